"""The test door: what writers of plugins and hosts need to prove their work (P-15).

A manual clock, fresh ledgers of both kinds, hosts that move by the test's word, hosts in processes of their own,
dying ledgers, plugins that play a part, and suites of conformance. Only tests import it.
"""

from __future__ import annotations

from schedcore.testing.clock import ManualClock
from schedcore.testing.contracts import ExecutorContract
from schedcore.testing.crashing import CRASH_POINTS, crash_at
from schedcore.testing.dying import DyingLedger, HostDied
from schedcore.testing.hosts import StandingHost
from schedcore.testing.ledgers import empty, fresh_sqlite, open_ledger
from schedcore.testing.plays import Doorkeeper, Ear, Player, RaisingRule, StuckRule, noop
from schedcore.testing.processes import HostProcess, Told, run_host, unstarted_host, until, within
from schedcore.testing.recording import Recorder, Recording, read_record

__all__ = [
    "CRASH_POINTS",
    "Doorkeeper",
    "DyingLedger",
    "Ear",
    "ExecutorContract",
    "HostDied",
    "HostProcess",
    "ManualClock",
    "Player",
    "RaisingRule",
    "Recorder",
    "Recording",
    "StandingHost",
    "StuckRule",
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
    "within",
]
