"""The test door: what writers of plugins and hosts need to prove their work (P-15).

A manual clock, fresh ledgers of both kinds, hosts that move by the test's word, dying ledgers, and suites of
conformance. Only tests import it.
"""

from __future__ import annotations

from schedcore.testing.clock import ManualClock
from schedcore.testing.crashing import CRASH_POINTS, crash_at
from schedcore.testing.hosts import StandingHost, noop
from schedcore.testing.ledgers import empty, fresh_sqlite, open_ledger
from schedcore.testing.processes import HostProcess, Told, run_host, unstarted_host, until
from schedcore.testing.recording import Recorder, Recording, read_record

__all__ = [
    "CRASH_POINTS",
    "HostProcess",
    "ManualClock",
    "Recorder",
    "Recording",
    "StandingHost",
    "Told",
    "crash_at",
    "empty",
    "fresh_sqlite",
    "noop",
    "open_ledger",
    "read_record",
    "run_host",
    "unstarted_host",
    "until",
]
