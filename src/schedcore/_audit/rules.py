"""The rules of the audit: what each says in plain words, what is counted, and what to do about a finding.

The numbers are those of the project's specification; they never move (``docs/fsck.md`` has the same table).
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RULES", "Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """``says`` is the rule, ``unit`` what is counted as checked, ``remedy`` what to do about a finding."""

    says: str
    unit: str
    remedy: str


_HISTORY = (
    "see `schedcore why JOB SLOT` and `schedcore history JOB`, keep a copy of the ledger, and report it"
)
_RUN = "see `schedcore runs show RUN` and `schedcore runs attempts RUN`, keep a copy of the ledger, and report it"
_DAMAGE = "keep a copy of the ledger, restore a backup, and find what else writes to it"

RULES = {
    "I1": Rule("a slot is decided once", "decisions", _HISTORY),
    "I2": Rule(
        "up to last_slot, the slots of each definition are decided under it, and nothing else is",
        "slots",
        "a missing slot did not run, `schedcore backfill` runs it; keep a copy of the ledger, and report it",
    ),
    "I3": Rule(
        "a skipped row counts the slots between its ends, and no two overlap", "skipped rows", _HISTORY
    ),
    "I4": Rule(
        "a coalesced row points to a later run of its job, opened with it", "coalesced rows", _HISTORY
    ),
    "I5": Rule(
        "nothing is decided before its time, starts before it is opened, or ends before it starts",
        "decisions and runs",
        "compare the clocks of the hosts (`schedcore doctor`), then report it",
    ),
    "I6": Rule("the fences of a run's attempts rise, and none is above the run's own", "attempts", _RUN),
    "I7": Rule("a run's attempts are numbered without a gap, and only the last may be open", "runs", _RUN),
    "I8": Rule("a run that is final stays as it is, and every move is an allowed one", "runs", _RUN),
    "I9": Rule("a run ended as its last attempt did, under that attempt's fence", "runs", _RUN),
    "I10": Rule(
        'a lost run is claimed again only under on_lost = "retry"',
        "attempts that were lost",
        "look at what its work did twice; then report it",
    ),
    "I11": Rule(
        "no more runs of a job are unfinished than its overlap rule allows",
        "jobs with unfinished runs",
        "`schedcore runs cancel` one of them; then report it",
    ),
    "I12": Rule("a message is sent once, and what is sent has a receipt", "deliveries", _HISTORY),
    "I13": Rule("a run that owes a message is final only with its delivery", "runs", _HISTORY),
    "I14": Rule(
        "what did not run or did not end well has a reason from the closed list",
        "reasons",
        "a plugin's reason carries its name and a dot; any other comes from a fault or a foreign hand",
    ),
    "I15": Rule("a gated run had an approval of exactly what ran", "runs", "stop the job, then report it"),
    "I16": Rule("the events of a job are numbered without a gap", "events", _DAMAGE),
    "I17": Rule(
        "a job's state is that of its last order, a run's that of its last attempt",
        "jobs and runs",
        "see `schedcore history JOB`; somebody may have edited the ledger by hand",
    ),
    "I18": Rule(
        "no secret stands in the ledger", "texts", "change that secret, and report who wrote it there"
    ),
    "I19": Rule(
        "no text is longer than its bound or holds what it may not", "rows", "find out what wrote it"
    ),
    "I20": Rule("what a row refers to is there, and the store is whole", "relations", _DAMAGE),
    "L1": Rule(
        "every due slot of an active job is decided in time",
        "active jobs",
        "see `schedcore status` and `schedcore doctor`: is a host stuck, or its clock wrong?",
    ),
    "L2": Rule(
        "no attempt is open longer than its limit and its lease allow",
        "open attempts",
        "`schedcore runs release RUN` when its host is dead",
    ),
    "L3": Rule("a hold has an alarm, and no alarm outlives its cause", "holds", "see `schedcore status`"),
    "L4": Rule(
        "a host that is marked live has beaten",
        "live hosts",
        "look at its machine; see `schedcore engine list`",
    ),
}
"""By number, in the order of the report."""
