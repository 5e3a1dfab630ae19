"""Copies of a ledger: a file of its content, and beside it a manifest that says what the content is.

:mod:`~schedcore._ledger.backups.manifest` is the manifest, :mod:`~schedcore._ledger.backups.files` how files come
to be whole or not at all; how content leaves a database and comes into one is a file for each database.
"""
