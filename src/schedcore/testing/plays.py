"""Plugins that play a part: executors, gates, listeners and triggers that do what a test writes down (P-15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from schedcore.domain.outcome import Outcome, ok
from schedcore.spec.context import RunContext
from schedcore.spec.declarations import Executor, Gate, Listener, Veto

__all__ = ["Doorkeeper", "Ear", "Player", "RaisingRule", "StuckRule", "noop"]

_Step = Outcome | BaseException | Callable[[RunContext], Any]


def noop(kind: str = "noop", execute: Callable[[RunContext], Outcome] | None = None, **more: Any) -> Executor:
    """An executor of kind ``noop`` (any payload) that does ``execute(ctx)``, or nothing."""
    return Executor(kind=kind, payload={"type": "object"}, execute=execute or (lambda ctx: ok()), **more)


class Player:
    """An executor that plays its steps one after another, then ends ``ok`` for ever.

    A step is an :class:`Outcome`, an exception to raise (``SystemExit`` leaves the thread), or a function of
    the context whose answer is handed back as it is, nonsense included. ``seen`` holds the context of every
    attempt.
    """

    def __init__(self, *steps: _Step, then: _Step | None = None) -> None:
        self.steps = list(steps)
        self.then: _Step = then if then is not None else ok()
        self.seen: list[RunContext] = []

    def __call__(self, ctx: RunContext) -> Any:
        """One attempt."""
        self.seen.append(ctx)
        step = self.steps.pop(0) if self.steps else self.then
        if isinstance(step, BaseException):
            raise step
        return step if isinstance(step, Outcome) else step(ctx)

    def plays(self, kind: str = "noop", **more: Any) -> Executor:
        """The declaration of this executor."""
        return noop(kind, self, **more)


class Doorkeeper:
    """A gate that gives its answers one after another, then lets everything through; ``asked`` is who came.

    An answer is a :class:`Veto`, ``None``, an exception to raise, or a function of the run that is shown.
    """

    def __init__(self, *answers: Veto | BaseException | Callable[[Mapping[str, Any]], Any] | None) -> None:
        self.answers = list(answers)
        self.asked: list[Mapping[str, Any]] = []

    def __call__(self, run: Mapping[str, Any]) -> Veto | None:
        """One question."""
        self.asked.append(run)
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, BaseException):
            raise answer
        if callable(answer):
            answer = answer(run)
        return answer if isinstance(answer, Veto) else None

    def stands(self, name: str = "door", kinds: frozenset[str] = frozenset()) -> Gate:
        """The declaration of this gate."""
        return Gate(name, self, kinds)


class Ear:
    """A listener that keeps what it is told in ``heard``, and raises ``error`` at its first ``deaf`` events."""

    def __init__(self, *, deaf: int = 0, error: BaseException | None = None) -> None:
        self.deaf = deaf
        self.error = error or ConnectionError("nobody hears me")
        self.heard: list[Mapping[str, Any]] = []

    def __call__(self, event: Mapping[str, Any]) -> None:
        """One event."""
        if self.deaf:
            self.deaf -= 1
            raise self.error
        self.heard.append(event)

    def listens(self, name: str, *topics: str) -> Listener:
        """The declaration of this listener; without topics it hears of runs that are final."""
        return Listener(name, frozenset(topics or ("run.final",)), self)


class StuckRule:
    """A trigger's rule that answers the same instant for ever: that of the text, in microseconds."""

    def __init__(self, text: str, zone: str = "UTC") -> None:
        self.at = int(text)

    def next(self, after_us: int) -> int | None:
        """The same slot, whatever is asked."""
        return self.at


class RaisingRule:
    """A trigger's rule with a slot each minute that raises ``RaisingRule.broken`` once it is set."""

    broken: BaseException | None = None

    def __init__(self, text: str, zone: str = "UTC") -> None:
        self.text = text

    def next(self, after_us: int) -> int | None:
        """The next whole minute."""
        if RaisingRule.broken is not None:
            raise RaisingRule.broken
        return (after_us // 60_000_000 + 1) * 60_000_000
