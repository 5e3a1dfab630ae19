"""What ``serve`` shows while it runs: one line for each run that is planned, begins or ends.

The engine's thread only puts its events into a queue; they are printed by the thread that waits, so that a slow
terminal never holds up a beat.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

import click

from schedcore._cli import answer, times
from schedcore._cli.front import Front
from schedcore.domain.clock import parse_text, text
from schedcore.domain.errors import SchedcoreError
from schedcore.domain.lines import escape, one_line
from schedcore.domain.local import local_text

if TYPE_CHECKING:
    from schedcore._host.control import Control

__all__ = ["Onlooker", "tell_summary"]

_FIRST = 20
_AT_ONCE = 50
_TEXT = 160


class Onlooker:
    """Prints what happens. ``wake`` is called when there is something to print."""

    def __init__(self, front: Front, zone: str, now: Callable[[], int], wake: Callable[[], None]) -> None:
        self._front = front
        self._zone = zone
        self._now = now
        self._wake = wake
        self._events: SimpleQueue[dict[str, Any]] = SimpleQueue()
        self._planned: dict[str, str] = {}

    def look(self, event: Mapping[str, Any]) -> None:
        """Take an event of the host; from the engine's thread."""
        self._events.put({**event, "at": text(self._now())})
        self._wake()

    def plan_all(self, control: Control) -> None:
        """Say what comes next: the first slots of all jobs."""
        try:
            found = control.jobs(limit=_FIRST)
        except SchedcoreError as error:
            answer.note(f"what is planned cannot be read now: {error}")
            return
        for job in found:
            if job["next_run_at"]:
                self._plan(job["key"], job["next_run_at"])

    def drain(self, control: Control | None) -> None:
        """Print what has been taken; with a control also what is planned of the jobs that began."""
        events = []
        try:
            while True:
                events.append(self._events.get_nowait())
        except Empty:
            pass
        for event in events:
            self._tell(event)
        began = list(dict.fromkeys(event["job"] for event in events if event["what"] == "started"))
        if control is None or self._front.quiet or len(began) > _AT_ONCE:
            return
        for key in began:
            try:
                found = control.next(key, n=1)
            except SchedcoreError:  # gone meanwhile, or the ledger is away: nothing is planned then
                continue
            if found["slots"] and not found.get("note"):
                self._plan(key, found["slots"][0]["utc"])

    def _plan(self, key: str, slot: str) -> None:
        if self._planned.get(key) == slot:
            return
        self._planned[key] = slot
        self._tell({"what": "planned", "at": text(self._now()), "job": key, "scheduled_for": slot})

    def _tell(self, event: Mapping[str, Any]) -> None:
        front = self._front
        if front.quiet:
            return
        if front.json:
            answer.emit(event)
            return
        at, slot = parse_text(event["at"]), parse_text(event["scheduled_for"])
        state = {"planned": "planned", "started": "running"}.get(event["what"])
        state = state or str(event["outcome"] if event.get("again_at") else event["state"])
        when = f"slot {self._clock(slot, at)}"
        parts = [self._clock(at), answer.colored(state.ljust(11)), escape(event["job"]).ljust(16), when]
        parts += [part for part in self._more(event, at) if part]
        click.echo("  ".join(parts))

    def _more(self, event: Mapping[str, Any], at: int) -> list[str | None]:
        again = event.get("again_at")
        reason = ": ".join(str(part) for part in (event.get("reason"), event.get("text")) if part)
        return [
            "late" if event.get("late") else None,
            f"attempt {event['attempt']}" if event.get("attempt", 1) > 1 else None,
            times.length(event.get("duration_ms")),
            one_line(reason, _TEXT) if reason and event["what"] == "finished" else None,
            f"again at {self._clock(parse_text(again), at)}" if again else None,
        ]

    def _clock(self, us: int, beside: int | None = None) -> str:
        """The time of day; with the day in front where that is another than the event's."""
        there = local_text(us // 1_000_000 * 1_000_000, self._zone)
        clock = there[11:19]
        if beside is None or there[:10] == local_text(beside // 1_000_000 * 1_000_000, self._zone)[:10]:
            return clock
        return f"{there[:10]} {clock}"


def tell_summary(front: Front, found: Mapping[str, Any]) -> None:
    """The summary at the end, from the ledger."""
    if front.json:
        answer.emit({"what": "summary", **found})
        return
    if front.quiet:
        return
    runs = ", ".join(f"{count} {state}" for state, count in found["runs"].items())
    skipped = ", ".join(f"{count} {reason}" for reason, count in found["skipped"].items())
    answer.line(f"runs: {runs or 'none'}; skipped slots: {skipped or 'none'}")
    rows = [
        (
            key,
            ", ".join(f"{count} {state}" for state, count in told["runs"].items()),
            ", ".join(f"{count} {reason}" for reason, count in told["skipped"].items()),
        )
        for key, told in found["jobs"].items()
    ]
    if rows:
        answer.table(("JOB", "RUNS", "SKIPPED"), rows)
