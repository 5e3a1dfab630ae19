"""PostgreSQL: row locks with SKIP LOCKED, the server's clock for due-ness and leases, LISTEN/NOTIFY.

Every table stands in the schema ``schedcore``, set by name. The planner options keep the batch statements on
their indexes: with few rows per batch the planner otherwise prefers to read the whole table.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.pool import ConnectionPoolEntry

from schedcore._ledger.dialects import postgresql_hot as hot
from schedcore._ledger.dialects.driver import execute
from schedcore.domain.errors import LedgerError

__all__ = [
    "CHANNEL",
    "ONE_CLOCK",
    "boot_id",
    "checkpoint",
    "hot",
    "is_busy",
    "is_full",
    "lease_now",
    "make_engine",
    "notify",
    "now",
    "server_up_since",
    "wal_reset_fault",
]

CHANNEL = "schedcore"
ONE_CLOCK = True
"""Due-ness and leases are judged by the same clock, the server's."""
_CLOCK = "(extract(epoch from clock_timestamp())*1000000)::bigint"
_PLANNER = (
    "-c enable_hashjoin=off -c enable_mergejoin=off -c enable_seqscan=off -c enable_bitmapscan=off"
    " -c enable_material=off -c enable_memoize=off -c jit=off"
)
_LIMITS = (
    "-c statement_timeout=30000 -c lock_timeout=5000 -c idle_in_transaction_session_timeout=30000"
    " -c timezone=UTC -c application_name=schedcore"
)


def wal_reset_fault() -> bool:
    """A fault of SQLite; never here."""
    return False


def boot_id() -> str:
    """Leases are judged on the server's clock, so no boot of a client matters."""
    return "server"


def lease_now(c: sa.Connection) -> int:
    """Lease time in microseconds: ``clock_timestamp()`` of the server, which moves within a transaction."""
    return int(execute(c, "select " + _CLOCK).fetchone()[0])


def server_up_since(c: sa.Connection) -> int:
    """Lease time at which this server was started."""
    text = "select (extract(epoch from pg_postmaster_start_time())*1000000)::bigint"
    return int(c.exec_driver_sql(text).scalar_one())


def now(c: sa.Connection) -> int | None:
    """The server's clock: hosts with skewed clocks behave as one (G10)."""
    return int(execute(c, "select " + _CLOCK).fetchone()[0])


def make_engine(url: sa.URL) -> sa.Engine:
    """An engine with deadlines on every statement, lock and idle transaction."""
    if url.drivername in {"postgresql", "postgres"}:
        url = url.set(drivername="postgresql+psycopg")
    try:
        engine = sa.create_engine(
            url,
            pool_size=8,
            max_overflow=248,
            pool_recycle=1800,
            connect_args={
                "options": f"{_PLANNER} {_LIMITS}",
                "connect_timeout": 10,
                "keepalives": 1,
                "keepalives_idle": 30,
                "keepalives_interval": 10,
                "keepalives_count": 3,
            },
        )
    except ModuleNotFoundError as missing:
        raise LedgerError(
            "PostgreSQL needs the driver psycopg",
            code="no_driver",
            value=str(missing),
            hint="pip install 'schedcore-host[postgresql]'",
        ) from None

    @event.listens_for(engine, "connect")
    def _connect(dbapi: object, _entry: ConnectionPoolEntry) -> None:
        dbapi.prepare_threshold = 0  # type: ignore[attr-defined]  # every statement here comes back

    return engine


def durability(c: sa.Connection) -> list[str]:
    """What this server promises less than G5 asks, in words; empty when nothing."""
    weaker = []
    for name, wanted in (
        ("synchronous_commit", {"on", "remote_apply", "remote_write", "local"}),
        ("fsync", {"on"}),
        ("full_page_writes", {"on"}),
    ):
        value = c.exec_driver_sql("select current_setting(%s)", (name,)).scalar_one()
        if value not in wanted:
            weaker.append(f"{name}={value}")
    return weaker


def checkpoint(engine: sa.Engine) -> tuple[int, int]:
    """The server checkpoints by itself."""
    return 0, 0


def notify(c: sa.Connection) -> None:
    """Wake every host once this transaction commits."""
    execute(c, f"notify {CHANNEL}")


def is_busy(error: sa.exc.DBAPIError) -> bool:
    """Serialisation failure, deadlock, lock wait over: nothing has happened, try the whole again."""
    return getattr(error.orig, "sqlstate", None) in {"40001", "40P01", "55P03"}


def is_full(error: sa.exc.DBAPIError) -> bool:
    """The server's disk is full."""
    return getattr(error.orig, "sqlstate", None) == "53100"
