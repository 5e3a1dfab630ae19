"""The test door: what writers of plugins and hosts need to prove their work (P-15).

A manual clock, fresh ledgers of both kinds, hosts that move by the test's word, dying ledgers, and suites of
conformance. Only tests import it.
"""

from __future__ import annotations

from schedcore.testing.clock import ManualClock
from schedcore.testing.hosts import StandingHost, noop
from schedcore.testing.ledgers import empty, fresh_sqlite, open_ledger

__all__ = ["ManualClock", "StandingHost", "empty", "fresh_sqlite", "noop", "open_ledger"]
