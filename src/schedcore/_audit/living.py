"""Holds and hosts (I14, L3, L4), and the rules about what this ledger does not hold yet (I12, I13, I15)."""

from __future__ import annotations

from schedcore._audit.clock_of_ledger import LedgerClock
from schedcore._audit.report import Notebook
from schedcore._audit.snapshot import Snapshot
from schedcore._audit.words import HOLDS
from schedcore.domain.clock import text

__all__ = ["audit_holds", "audit_hosts", "say_what_is_absent"]

_ABSENT = {
    "I12": "not in this ledger: it keeps no deliveries",
    "I13": "not in this ledger: it keeps no deliveries",
    "I15": "not in this ledger: it keeps no approvals",
    "L3": "not in this ledger: it keeps no alarms",
}
"""Rules whose tables do not exist yet. What they say happened outside is nobody's to check here."""


def say_what_is_absent(note: Notebook) -> None:
    """Rules about what this schema has no table for."""
    for rule, why in _ABSENT.items():
        note.leaves(rule, why)


def audit_holds(snapshot: Snapshot, note: Notebook) -> None:
    """Holds have a reason from the closed list (I14)."""
    for number, reason in snapshot.rows("select id,reason from {s}holds order by id"):
        note.checks("I14")
        if reason not in HOLDS:
            note.finds("I14", f"hold {number} has the reason {reason!r}")


def audit_hosts(note: Notebook, clock: LedgerClock) -> None:
    """Hosts that are marked live have beaten, by the clock of the one that beat last (L4)."""
    if clock.now is None:
        note.leaves("L4", "no host lives that has beaten")
        return
    for host in clock.live:
        note.checks("L4")
        if host.silent(clock.now):
            last = "never" if host.beat_at is None else text(host.beat_at)
            note.finds("L4", f"host {host.id} ({host.name}) is marked live; its last beat was {last}")
