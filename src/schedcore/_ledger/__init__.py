"""The ledger: the only thing that is durable.

Statements are functions of a connection. Tables and cold statements are SQLAlchemy Core; the handful of hot
ones are texts built once per batch size (``dialects/*_hot.py``), which a test
holds equal to their Core forms. What differs between SQLite and PostgreSQL is one file each in ``dialects/``.
"""
