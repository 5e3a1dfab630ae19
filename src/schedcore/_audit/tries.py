"""One run and its attempts: was it claimed, ended and closed as it may be? (I5 to I10, I14, I17)

Pure: a run and its attempts in, findings out. The rules are written here once more, from their words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from schedcore._audit.words import FINAL, OF_OUTCOME, STATES, TRIGGERS, is_reason
from schedcore.domain.clock import text

__all__ = ["Run", "Try", "judge", "set_back", "went_well"]

_RUNNING, _SUCCEEDED = STATES.index("running"), STATES.index("succeeded")
_BY_OTHERS = frozenset({"interrupted", "cancelled"})
"""How a run may end that was taken from its holder."""
_AGAIN = frozenset({"failed", "interrupted"})
"""After which ends of an attempt there may be another."""
_UNHELD = {
    "blocked": frozenset({"gate", "no_answer", "approval"}),
    "cancelled": frozenset({"operator", "replaced"}),
}
"""How a run may end that nobody holds."""
_NOTHING = (None, None, None, None)
_LOST = frozenset({"lease_lost", "stopped_itself", "shutdown"})

Found = tuple[str, str]
"""The rule, and what is wrong."""


class Run(NamedTuple):
    """A row of ``runs``, as far as it is judged here."""

    id: int
    job_id: int
    definition: int
    slot: int
    trigger: int
    state: int
    attempts: int
    fence: int
    lease_end: int | None
    opened_at: int
    started_at: int | None
    finished_at: int | None
    outcome: str | None
    reason: str | None
    next_attempt_at: int | None

    @property
    def word(self) -> str:
        """The state in a word."""
        return STATES[self.state] if 0 <= self.state < len(STATES) else str(self.state)


class Try(NamedTuple):
    """A row of ``attempts``."""

    run_id: int
    number: int
    fence: int
    claimed_at: int
    started_at: int | None
    finished_at: int | None
    outcome: str | None
    reason: str | None


def judge(run: Run, tries: Sequence[Try], retries_lost: bool | None) -> Iterator[Found]:
    """All that is wrong with a run. ``retries_lost`` is its ``on_lost = "retry"``; ``None`` where that is unknown."""
    if not 0 <= run.state < len(STATES) or not 0 <= run.trigger < len(TRIGGERS):
        yield "I8", f"it has the state {run.state} and the trigger {run.trigger}, which there are not"
        return
    yield from _times(run, tries)
    yield from _fences(run, tries)
    yield from _numbers(run, tries)
    yield from _moves(run, tries)
    yield from _ends(run, tries)
    yield from _lost(tries, retries_lost)
    yield from _reasons(run, tries)


def went_well(run: Run, tries: Sequence[Try]) -> bool:
    """The usual run: one attempt, that ended well. Nothing is wrong with it, so it is not judged further."""
    if run.state != _SUCCEEDED or len(tries) != 1 or run.started_at is None or run.finished_at is None:
        return False
    one = tries[0]
    return (
        run.outcome == one.outcome == "ok"
        and run.attempts == one.number == 1
        and one.fence == run.fence
        and run.finished_at == one.finished_at
        and run.opened_at <= one.claimed_at <= run.started_at <= run.finished_at
        and run.started_at == one.started_at
        and (run.reason, one.reason, run.lease_end, run.next_attempt_at) == _NOTHING
        and 0 <= run.trigger < len(TRIGGERS)
    )


def set_back(run: Run, tries: Sequence[Try]) -> bool:
    """Do its own instants show that the ledger's clock was set back meanwhile? Then their order says nothing."""
    stamps = [run.opened_at, *(one.claimed_at for one in tries)]
    ended = any(_before(one.finished_at, one.claimed_at) for one in tries)
    return ended or stamps != sorted(stamps)


def _times(run: Run, tries: Sequence[Try]) -> Iterator[Found]:
    for one in tries:
        if _before(one.finished_at, one.started_at):
            yield (
                "I5",
                f"attempt {one.number} ended at {_at(one.finished_at)}, before its start {_at(one.started_at)}",
            )
    if set_back(run, tries):
        return
    if _before(run.started_at, run.opened_at):
        yield "I5", f"it started at {_at(run.started_at)}, before it was opened, {_at(run.opened_at)}"
    if _before(run.finished_at, run.started_at):
        yield "I5", f"it ended at {_at(run.finished_at)}, before its start {_at(run.started_at)}"


def _fences(run: Run, tries: Sequence[Try]) -> Iterator[Found]:
    fences = [one.fence for one in tries]
    if any(later <= earlier for earlier, later in zip(fences, fences[1:], strict=False)):
        yield "I6", f"the fences of its attempts do not rise: {fences}"
    if fences and max(fences) > run.fence:
        yield "I6", f"an attempt has the fence {max(fences)}, and the run itself {run.fence}"


def _numbers(run: Run, tries: Sequence[Try]) -> Iterator[Found]:
    numbers = [one.number for one in tries]
    if numbers != list(range(1, run.attempts + 1)):
        yield "I7", f"it has made {run.attempts} attempts, and the rows are numbered {numbers}"
    still = [one.number for one in tries if one.finished_at is None]
    if still[:-1] or (still and still[-1] != numbers[-1]):
        yield "I7", f"attempts {still} are open; only the last may be"
    if still and run.state != _RUNNING:
        yield "I7", f"it is {run.word}, and attempt {still[-1]} is open"
    if not still and run.state == _RUNNING:
        yield "I7", "it is running without an open attempt"


def _moves(run: Run, tries: Sequence[Try]) -> Iterator[Found]:
    final = run.state in FINAL
    if final and run.finished_at is None:
        yield "I8", f"it is {run.word}, and has no end"
    if final and (run.lease_end is not None or run.next_attempt_at is not None):
        yield "I8", f"it is {run.word}, and still holds a lease or waits for an attempt"
    if run.state == _RUNNING and run.lease_end is None:
        yield "I8", "it is running without a lease"
    for one in tries[:-1]:
        if one.outcome is not None and one.outcome not in _AGAIN:
            yield "I8", f"attempt {one.number} ended {one.outcome}, and it was claimed again"
    if final and run.finished_at is not None and tries and not set_back(run, tries):
        last = tries[-1]
        if last.claimed_at > run.finished_at:
            yield "I8", f"it ended at {_at(run.finished_at)} and was claimed again at {_at(last.claimed_at)}"


def _ends(run: Run, tries: Sequence[Try]) -> Iterator[Found]:
    if run.state not in FINAL:
        return
    wanted = None if run.outcome is None else OF_OUTCOME.get(run.outcome)
    if wanted != (None if run.word == "skipped" else run.word):
        yield "I17", f"it is {run.word}, and its outcome is {run.outcome}"
    last = tries[-1] if tries else None
    if last is not None and (last.outcome, last.reason) == (run.outcome, run.reason):
        raised = 1 if run.outcome in _BY_OTHERS else 0
        if not last.fence <= run.fence <= last.fence + raised and last.finished_at == run.finished_at:
            yield "I9", f"its last attempt has the fence {last.fence}, and it ended under {run.fence}"
        if last.finished_at != run.finished_at and run.reason not in _UNHELD.get(run.word, ()):
            yield "I8", f"it ended at {_at(run.finished_at)}, its last attempt at {_at(last.finished_at)}"
        return
    idle = run.word == "skipped" or run.reason in _UNHELD.get(run.word, ())
    if not idle or (last is not None and last.outcome not in _AGAIN):
        had = "no attempt" if last is None else f"{last.outcome}: {last.reason}"
        yield "I9", f"it ended {run.outcome}: {run.reason}, and its last attempt {had}"


def _lost(tries: Sequence[Try], retries_lost: bool | None) -> Iterator[Found]:
    for one in tries[:-1]:
        if one.outcome != "interrupted":
            continue
        if one.reason not in _LOST:
            yield "I10", f"attempt {one.number} ended interrupted: {one.reason}, and it was claimed again"
        elif retries_lost is False:
            yield (
                "I10",
                f"attempt {one.number} was lost ({one.reason}), and it was claimed again under on_lost = stop",
            )


def _reasons(run: Run, tries: Sequence[Try]) -> Iterator[Found]:
    for one in tries:
        if one.outcome is not None and one.outcome not in OF_OUTCOME:
            yield "I14", f"attempt {one.number} has the outcome {one.outcome!r}"
        elif one.outcome is not None and not is_reason(one.outcome, one.reason):
            yield "I14", f"attempt {one.number} ended {one.outcome} for the reason {one.reason!r}"
    if run.word == "skipped" and run.reason != "late":
        yield "I14", f"it is skipped for the reason {run.reason!r}"


def _before(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and one < other


def _at(us: int | None) -> str:
    return "never" if us is None else text(us)
