"""The clock guard (G9, P-13): what a step of *now* means, judged by the boot-time clock, which never steps.

A step back needs no guard, since ``last_slot`` never moves back. A step ahead by more than an hour makes
claims wait for three agreeing beats; by more than 366 days it opens a hold that only an operator lifts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from schedcore.domain.clock import DAY, HOUR, SECOND

__all__ = ["AGREEING", "Guard", "Said", "look"]

AGREEING = 3
_AHEAD = HOUR
_ABSURD = 366 * DAY
Said = Literal["quiet", "stepped", "absurd", "trusted"]


@dataclass(frozen=True, slots=True)
class Guard:
    """The last pair of clocks that was seen, and how many more beats must agree before claims go on."""

    now: int | None = None
    boot: int = 0
    waits: int = 0

    def leapt(self, now: int, boot: int) -> bool:
        """Has the clock stepped ahead since the last beat, further than is believed at once?"""
        return self.now is not None and (now - self.now) - (boot - self.boot) > _AHEAD


def look(guard: Guard, now: int, boot: int, *, beat: bool) -> tuple[Guard, Said]:
    """Compare two pairs of clocks; ``beat`` says that this look is a beat, which alone counts as agreeing."""
    if guard.now is None:
        return Guard(now, boot), "quiet"
    ahead = (now - guard.now) - (boot - guard.boot)
    seen = replace(guard, now=now, boot=boot)
    if ahead > _ABSURD:
        return replace(seen, waits=0), "absurd"
    if ahead > _AHEAD:
        return replace(seen, waits=AGREEING), "stepped"
    if guard.waits and beat:
        if abs(ahead) > 30 * SECOND:
            return replace(seen, waits=AGREEING), "quiet"
        return replace(seen, waits=guard.waits - 1), "trusted" if guard.waits == 1 else "quiet"
    return seen, "quiet"
