"""What a language must bring so that triggers and slots can be said in it; :mod:`words_en` is the first.

Whole sentence patterns, not words to be glued: a pattern may put its parts in any order. Adding a language is
one file with one :class:`Words`, and its name in :data:`LANGUAGES`. Values go into patterns, never the other
way round, so a schedule that looks like a pattern stays text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from schedcore.domain.errors import Refused, nearest, shown

__all__ = ["LANGUAGES", "PATTERNS", "Named", "Words", "language", "words_of"]

#: The languages that have words.
LANGUAGES = ("en", "fr", "zh")

Named = Callable[[str, str | None], str]
"""How one thing is named in a list (the second value is ``None``), or a range from the first to the second."""

#: Every pattern that a language must have, with the values it may use.
PATTERNS: dict[str, tuple[str, ...]] = {
    # when in the day
    "minutely": (),
    "minutes": ("n",),
    "hourly": (),
    "hourly_at": ("minutes",),
    "hourly_at_many": ("minutes",),
    "hours": ("n", "minutes"),
    "hours_many": ("n", "minutes"),
    "times": ("times",),
    "minutely_from": ("first", "last"),
    "minutes_from": ("n", "first", "last"),
    "minutes_of_hours": ("minutes", "hours"),
    "minutes_of_hours_many": ("minutes", "hours"),
    # on which days
    "daily": (),
    "workdays": (),
    "weekend": (),
    "weekdays": ("weekdays",),
    "day": ("days",),
    "days": ("days",),
    "last_day": (),
    "nth": ("nths",),
    "nth_item": ("which", "weekday"),
    "day_or_weekday": ("day", "weekday"),
    "day_and_weekday": ("days", "weekdays"),
    "months": ("months",),
    # the whole cron
    "time": ("time",),
    "time_day": ("time", "day"),
    "time_month": ("time", "month"),
    "time_day_month": ("time", "day", "month"),
    "in_zone": ("what", "zone"),
    # the other kinds
    "every": ("length",),
    "every_from": ("length", "anchor"),
    "at": ("local",),
    "plugin": ("kind", "text"),
    "no_trigger": (),
    # what limits it
    "with": ("what", "more"),
    "from": ("instant",),
    "until": ("instant",),
    "count": ("n",),
    "calendar_drop": ("name",),
    "calendar_move": ("name",),
    "calendar_keep": ("name",),
    "jitter": ("length",),
    "gap_shift": (),
    "gap_skip": (),
    "fold_second": (),
    "fold_both": (),
    # notes on clock changes
    "note_gap_at_once": ("wall", "day", "fires"),
    "note_gap_at_once_many": ("wall", "until", "day", "fires"),
    "note_gap_shift": ("wall", "day", "fires"),
    "note_gap_skipped": ("wall", "day"),
    "note_gap_skipped_many": ("wall", "until", "day"),
    "note_fold_first": ("wall", "day"),
    "note_fold_second": ("wall", "day"),
    # notes on calendars
    "closing_dropped": ("entry", "calendar"),
    "closing_dropped_many": ("n", "entry", "calendar"),
    "closing_kept": ("entry", "calendar"),
    "closing_moved_here": ("other", "entry", "calendar"),
    "closing_moved_away": ("other", "entry", "calendar"),
    "closing_before": ("what",),
    # what a preview says beside its slots
    "no_further_slot": (),
    "would_have": ("state",),
}


@dataclass(frozen=True, slots=True)
class Words:
    """One language: names, the few rules of grammar, and the patterns of :data:`PATTERNS`."""

    code: str
    #: Sunday first, as in cron
    weekdays: tuple[str, ...]
    months: tuple[str, ...]
    #: first to fifth
    ordinals: tuple[str, ...]
    #: a list with its "and"
    listed: Callable[[list[str]], str]
    weekday: Named
    month: Named
    monthday: Named
    hour: Named
    minute: Named
    #: an interval's length in whole seconds, as the patterns ``every`` and ``every_from`` take it
    each: Callable[[int], str]
    #: a length of time in whole seconds
    length: Callable[[int], str]
    patterns: Mapping[str, str]

    def say(self, pattern: str, **values: object) -> str:
        """A pattern with its values."""
        return self.patterns[pattern].format(**values)


def language(lang: str) -> str:
    """The name of a language that has words. Raises :class:`Refused` (``unknown_language``)."""
    if lang not in LANGUAGES:
        raise Refused(
            f"no words for language {shown(lang)}",
            code="unknown_language",
            field="lang",
            value=lang,
            hint=nearest(str(lang), set(LANGUAGES)) or "one of " + ", ".join(LANGUAGES),
        )
    return lang


def words_of(lang: str) -> Words:
    """The words of a language; only its own are loaded. Raises as :func:`language` does."""
    if language(lang) == "fr":
        from schedcore.domain.words_fr import FRENCH

        return FRENCH
    if lang == "zh":
        from schedcore.domain.words_zh import CHINESE

        return CHINESE
    from schedcore.domain.words_en import ENGLISH

    return ENGLISH
