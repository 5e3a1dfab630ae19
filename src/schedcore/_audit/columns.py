"""Every text column of the ledger: how long it may be, and what it may hold (I19).

A *line* is a name or a word: no control character. A *text* is what somebody or something said: several lines,
escaped wherever it is shown, but no NUL. A test holds this table equal to the schema.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["TABLES", "Column", "Table"]

_KIB = 1024


class Column(NamedTuple):
    """``longest`` is in characters."""

    name: str
    longest: int
    line: bool = True


class Table(NamedTuple):
    """How the rows of a table are named: their number, their job's, their slot, their run's (SQL, or ``null``)."""

    name: str
    number: str
    job: str
    slot: str
    run: str
    columns: tuple[Column, ...]


def _line(longest: int, *names: str) -> tuple[Column, ...]:
    return tuple(Column(name, longest) for name in names)


def _text(longest: int, *names: str) -> tuple[Column, ...]:
    return tuple(Column(name, longest, line=False) for name in names)


TABLES = (
    Table("ledger", "one", "null", "null", "null", _line(64, "ledger_id")),
    Table(
        "jobs", "id", "id", "null", "null",
        (
            *_line(64, "uid", "state", "state_before", "creator_kind"), *_line(100, "key", "kind", "source"),
            *_line(128, "digest", "declared"), *_line(200, "name", "owner", "scope"),
            *_line(255, "state_actor", "creator"),
            *_line(1_000, "external_id"), *_text(1_100, "state_reason"), *_text(4_000, "why_so"),
            *_text(64 * _KIB, "labels", "extra"),
        ),
    ),
    Table(
        "definitions", "number", "job_id", "valid_from", "null",
        (
            *_line(64, "state", "tz_version"), *_line(100, "kind"), *_line(128, "digest"),
            *_text(1_100, "state_reason"), *_text(64 * _KIB, "trigger", "policies", "toolset"),
            *_text(256 * _KIB, "payload"),
        ),
    ),
    Table(
        "hosts", "id", "null", "null", "null",
        (
            *_line(64, "state"), *_line(100, "boot_id", "environment", "order_text"),
            *_line(255, "name", "machine"), *_text(64 * _KIB, "tags", "kinds", "versions", "status"),
        ),
    ),
    Table("kinds", "0", "null", "null", "null",
          (*_line(100, "kind"), *_line(255, "version"), *_text(1_024 * _KIB, "schema"))),
    Table(
        "runs", "id", "job_id", "scheduled_for", "id",
        (
            *_line(64, "outcome"), *_line(255, "reason", "stop_reason", "stop_actor", "delivery_key"),
            *_line(4_096, "output_ref"), *_text(8 * _KIB, "text", "stdout_tail", "stderr_tail", "assert_output"),
            *_text(16 * _KIB, "origin"), *_text(256 * _KIB, "usage", "detail"),
        ),
    ),
    Table("lanes", "id", "null", "null", "null", _text(64 * _KIB, "needs")),
    Table(
        "attempts", "run_id", "null", "null", "run_id",
        (*_line(64, "outcome"), *_line(255, "reason"), *_text(8 * _KIB, "text", "repair")),
    ),
    Table("skipped", "id", "job_id", "first_slot", "null", (*_line(64, "reason"), *_line(255, "actor"))),
    Table("places", "run_id", "null", "null", "run_id", _line(100, "group_name")),
    Table("groups", "0", "null", "null", "null", _line(100, "name")),
    Table("starts", "id", "null", "null", "null", _line(100, "group_name")),
    Table("leases", "0", "null", "null", "null", _line(255, "name")),
    Table("holds", "id", "null", "null", "null",
          (*_line(64, "reason"), *_line(255, "actor", "lifted_by"), *_text(1_100, "text"))),
    Table(
        "events", "id", "job_id", "null", "run_id",
        (
            *_line(64, "actor_kind", "action", "token"), *_line(128, "digest_before", "digest_after"),
            *_line(255, "actor"), *_text(8 * _KIB, "reason"), *_text(2_048 * _KIB, "changes"),
        ),
    ),
    Table("outbox", "id", "job_id", "null", "run_id", (*_line(100, "topic"), *_text(256 * _KIB, "data"))),
    Table("marks", "0", "null", "null", "null", (*_line(255, "listener"), *_text(2_000, "last_error"))),
    Table("shelves", "0", "null", "null", "null",
          (*_line(255, "plugin", "key"), *_text(256 * _KIB, "value"))),
    Table("archive", "id", "job_id", "first_slot", "null", _line(64, "month")),
)  # fmt: skip
