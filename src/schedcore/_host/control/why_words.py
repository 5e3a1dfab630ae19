"""The answers of ``why`` in words, for people; the data beside them says the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schedcore.domain.clock import text

__all__ = ["SKIPPED", "say"]

SKIPPED = {
    "late": "nobody could start it within the job's late limit",
    "overlap": "a run of the job was still alive, and its overlap rule is to skip",
    "paused": "the job was paused",
    "pending": "the job was waiting for approval",
    "breaker": "too many runs in a row had failed, and the job's breaker was open",
    "budget": "the budget was used up",
    "calendar": "the job's calendar has no work then",
    "no_executor": "no live host offered its kind of work",
    "full": "every worker was busy, and the job says on_full = 'skip'",
    "coalesced": "it came late together with others, and a later slot stands for it",
    "restored": "the ledger was restored from a backup, and it may have run before",
}


def say(answer: Mapping[str, Any], more: Mapping[str, Any]) -> str:
    """One sentence: what became of the instant, and why."""
    where = f"{answer['instant']} ({answer['instant_local']})"
    told = _VERDICTS[answer["verdict"]](answer, more)
    number = answer["definition"]
    under = f" [definition {number}]" if number is not None else ""
    return f"{where}: {told}{under}"


def _run(answer: Mapping[str, Any], more: Mapping[str, Any]) -> str:
    run = answer["run"]
    how = "" if run["trigger"] == "schedule" else f" ({run['trigger']})"
    late = ", started late" if run["late"] and run["started_at"] else ""
    why = f": {run['reason']}" if run["reason"] else ""
    return f"run {run['id']}{how} answers for it; it is {run['state']}{why}{late}{_closing(more)}"


def _skipped(answer: Mapping[str, Any], more: Mapping[str, Any]) -> str:
    row = answer["skipped"]
    many = f", with {row['slots'] - 1} others" if row["slots"] > 1 else ""
    who = f" (by {row['actor']})" if row["actor"] else ""
    stands = f" (run {row['run']})" if row["run"] else ""
    run = answer["run"]
    later = f"; run {run['id']} (backfill) ran it later and is {run['state']}" if _backfilled(run) else ""
    return f"it was skipped{many}: {SKIPPED.get(row['reason'], row['reason'])}{stands}{who}{later}{_closing(more)}"


def _backfilled(run: Mapping[str, Any] | None) -> bool:
    return run is not None and run["trigger"] == "backfill"


def _closing(more: Mapping[str, Any]) -> str:
    """What the calendar had to do with it."""
    return f"; {more['closing']}" if more.get("closing") else ""


def _not_a_slot(answer: Mapping[str, Any], more: Mapping[str, Any]) -> str:
    reason = answer["reason"]
    if reason == "anchor":
        return "the definition began at or after that very instant, and owes later slots only"
    if reason == "calendar":
        return f"it is no slot: it was {more['closing']}"
    if reason == "count":
        return "it is no slot: the count of the trigger is used up before it"
    if reason in {"done", "retired"}:
        return f"it is no slot: the job was {reason} then"
    after = answer["nearest"]
    return "it is no slot of the definition then in force" + (f"; the next is {after}" if after else "")


def _to_come(answer: Mapping[str, Any], more: Mapping[str, Any]) -> str:
    reason = answer["reason"]
    if reason == "calendar":
        return f"it is still to come, and will get no run: {more['closing']}"
    if reason == "jitter":
        return f"it has come, and waits for its jitter until {text(more['due'])}"
    if reason is not None:
        why = f" ({more['why']})" if more.get("why") else ""
        return f"it is still to come, but the job is {reason}{why}: as things stand it will not run"
    held = ", ".join(more.get("holds", ()))
    return "it is still to come" + (f"; nothing is claimed while a hold is open: {held}" if held else "")


def _undecided(answer: Mapping[str, Any], more: Mapping[str, Any]) -> str:
    reason = answer["reason"]
    if reason == "hold":
        return f"it is not decided yet: a hold is open ({', '.join(more['holds'])})"
    if reason == "calendar":
        return f"it gets no run: {more['closing']}; it is counted when the job's next slot is decided"
    if reason == "invalid":
        return f"the definition then in force cannot be read: {more['error']}"
    if reason == "no_host":
        live = "no host lives" if not more["live"] else "no live host offers its kind of work"
        return f"it is due and not decided yet: {live}"
    if reason == "late":
        return "it is due; a host will decide it with its next beat"
    why = f" ({more['why']})" if more.get("why") else ""
    then = "; a resume will count it" if reason in {"paused", "pending"} else ""
    return f"it is not decided: the job is {reason}{why}{then}"


def _before(answer: Mapping[str, Any], more: Mapping[str, Any]) -> str:
    return f"the job was created later, at {answer['nearest']}"


def _archived(answer: Mapping[str, Any], more: Mapping[str, Any]) -> str:
    return "its run, if it was a slot, was moved to the archive"


_VERDICTS = {
    "run": _run,
    "skipped": _skipped,
    "not_a_slot": _not_a_slot,
    "to_come": _to_come,
    "undecided": _undecided,
    "before_creation": _before,
    "archived": _archived,
}
