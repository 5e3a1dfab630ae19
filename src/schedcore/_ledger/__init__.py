"""The ledger: the only thing that is durable.

Statements are functions of a connection. Tables and cold statements are SQLAlchemy Core; the handful of hot
ones are texts built once per batch size (:mod:`schedcore._ledger.hot`), each beside a Core form that a test
holds equal. What differs between SQLite and PostgreSQL is one file each in ``dialects/``.
"""
