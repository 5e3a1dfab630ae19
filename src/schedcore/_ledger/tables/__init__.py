"""The tables, by subject; :mod:`schedcore._ledger.schema` is the door to all of them."""
