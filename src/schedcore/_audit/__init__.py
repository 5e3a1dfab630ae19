"""The auditor: is what the ledger says true? It reads a ledger and nothing else, and decides nothing.

It stands apart on purpose. An audit that asked the core what is owed would find the core right, whatever it
does; so nothing here comes from the rooms that decide. It has its own reading of the cron grammar, its own
enumeration of slots by ``zoneinfo``, its own copy of the closed lists and its own SQL. Of schedcore it imports
:mod:`schedcore.domain.clock` (what an instant is, and its text) and :mod:`schedcore.domain.errors`, and a
contract holds it to that.

How it goes: :mod:`~schedcore._audit.audit` opens one view (:mod:`~schedcore._audit.snapshot`) and sends streams
through the rules. :mod:`~schedcore._audit.slots` and :mod:`~schedcore._audit.decided` walk each job's decisions
beside what :mod:`~schedcore._audit.owed` says was owed; :mod:`~schedcore._audit.attempts` and
:mod:`~schedcore._audit.tries` judge each run; the others are one rule or two each. What they find is written
down in a :class:`~schedcore._audit.report.Notebook`.
"""

from __future__ import annotations

from schedcore._audit.audit import audit, wholeness
from schedcore._audit.report import Finding, Report

__all__ = ["Finding", "Report", "audit", "wholeness"]
