"""The test door: what writers of plugins and hosts need to prove their work (P-15).

A manual clock, fresh ledgers of both kinds, hosts that move by the test's word, dying ledgers, plugins that play
a part, and suites of conformance. Only tests import it.
"""

from __future__ import annotations

from schedcore.testing.clock import ManualClock
from schedcore.testing.dying import DyingLedger, HostDied
from schedcore.testing.hosts import StandingHost
from schedcore.testing.ledgers import empty, fresh_sqlite, open_ledger
from schedcore.testing.plays import Doorkeeper, Ear, Player, RaisingRule, StuckRule, noop

__all__ = [
    "Doorkeeper",
    "DyingLedger",
    "Ear",
    "HostDied",
    "ManualClock",
    "Player",
    "RaisingRule",
    "StandingHost",
    "StuckRule",
    "empty",
    "fresh_sqlite",
    "noop",
    "open_ledger",
]
