"""What all tables are made of: the schema, the conventions of names, the types of columns."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

__all__ = ["SCHEMA", "Id", "Text", "Us", "metadata", "of_job", "own_id"]

SCHEMA = "schedcore"

metadata = sa.MetaData(
    schema=SCHEMA,
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    },
)

Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Us = sa.BigInteger
Text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")  # text order is byte order on both


def own_id() -> sa.Column[int]:
    """The column ``id``, which the database counts."""
    return sa.Column("id", Id, sa.Identity(), primary_key=True)


def of_job(*, hot: bool = False, **kw: Any) -> sa.Column[int]:
    """The column ``job_id``. Hot tables have no foreign key: it costs a lookup (SQLite) or a row lock
    (PostgreSQL) per run; ``fsck`` checks them instead (``docs/decisions/0005``)."""
    refers = () if hot else (sa.ForeignKey(f"{SCHEMA}.jobs.id"),)
    return sa.Column("job_id", Id, *refers, nullable=False, **kw)
