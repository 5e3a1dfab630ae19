"""The tables.

Instants are integer microseconds since 1970 (L-04); lease ends are *not* instants but lease time of the
ledger; states are small integers (:mod:`schedcore.domain.run`). JSON is text that we dump ourselves, since a
type decorator on a hot column costs more than the database does (``docs/decisions/0004``).

What moves at each slot stands in the narrow table ``due`` beside ``jobs``, so that the row rewritten at every
fire carries no payload. ``due`` is also the lock of its job: whoever opens a run of a job holds that row.

A *lane* is what decides which hosts may claim a run: its kind of work, the tags and environment it requires,
its groups. Due slots and queued runs are indexed by lane first, so that a full group or a kind nobody offers
never stands in the way of the rest, whatever waits behind it.
"""

from __future__ import annotations

from schedcore._ledger.tables.base import SCHEMA, metadata
from schedcore._ledger.tables.hosts import holds, hosts, kinds, leases, ledger
from schedcore._ledger.tables.jobs import definitions, due, jobs, lanes
from schedcore._ledger.tables.runs import attempts, groups, in_state, places, runs, skipped, starts
from schedcore._ledger.tables.told import archive, events, marks, outbox, shelves

__all__ = [
    "SCHEMA",
    "archive",
    "attempts",
    "definitions",
    "due",
    "events",
    "groups",
    "holds",
    "hosts",
    "in_state",
    "jobs",
    "kinds",
    "lanes",
    "leases",
    "ledger",
    "marks",
    "metadata",
    "outbox",
    "places",
    "runs",
    "shelves",
    "skipped",
    "starts",
]
