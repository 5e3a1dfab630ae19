"""A trigger in words, for lists, forms and the answer to an order (T-01, P-12)."""

from __future__ import annotations

from schedcore.domain.at import At
from schedcore.domain.calendar_entries import WEEKDAYS
from schedcore.domain.clock_note import ClockNote
from schedcore.domain.closing import Closing
from schedcore.domain.cron import Cron
from schedcore.domain.describe_cron import describe_cron
from schedcore.domain.every import Every
from schedcore.domain.local import local_text
from schedcore.domain.trigger import Trigger
from schedcore.domain.words import Words, words_of

__all__ = ["describe", "describe_before", "describe_closing", "describe_note"]


def describe(trigger: Trigger, lang: str = "en") -> str:
    """A trigger in words, e.g. ``at 09:00 on weekdays (Europe/Berlin)``.

    Raises :class:`Refused` (``unknown_language``) for a language that has no words.
    """
    words = words_of(lang)
    said = _rule(trigger, words)
    for more in _limits(trigger, words):
        said = words.say("with", what=said, more=more)
    return said


def describe_note(note: ClockNote, lang: str = "en") -> str:
    """A note on a clock change in words. Raises :class:`Refused` as :func:`describe` does."""
    pattern = f"note_{note.code}_many" if note.until else f"note_{note.code}"
    return words_of(lang).say(pattern, day=note.day, wall=note.wall, until=note.until, fires=note.fires)


def describe_closing(closing: Closing, zone: str, lang: str = "en", *, count: int = 1) -> str:
    """What a calendar does to a slot, or to ``count`` of them in a row, in words; ``zone`` is the job's."""
    words = words_of(lang)
    pattern = f"closing_{closing.code}" + ("_many" if closing.code == "dropped" and count > 1 else "")
    other = "" if closing.other is None else local_text(closing.other, zone)
    entry = closing.entry
    if entry in WEEKDAYS:
        entry = words.weekdays[WEEKDAYS.index(entry)]
    return words.say(pattern, calendar=closing.calendar, entry=entry, other=other, n=count)


def describe_before(what: str, lang: str = "en") -> str:
    """The note of a slot on what lies before it."""
    return words_of(lang).say("closing_before", what=what)


def _rule(trigger: Trigger, words: Words) -> str:
    rule, zone = trigger.rule, trigger.zone
    if isinstance(rule, Cron):
        return words.say("in_zone", what=describe_cron(trigger.text, words), zone=zone)
    if isinstance(rule, Every):
        if rule.given:
            anchor = local_text(rule.anchor_us, zone)
            return words.say("every_from", length=words.each(rule.period_s), anchor=anchor)
        return words.say("every", length=words.each(rule.period_s))
    if isinstance(rule, At):
        return words.say("in_zone", what=words.say("at", local=local_text(rule.us, zone)), zone=zone)
    what = words.say("plugin", kind=trigger.kind, text=trigger.text)
    return words.say("in_zone", what=what, zone=zone)


def _limits(trigger: Trigger, words: Words) -> list[str]:
    said = []
    if trigger.not_before is not None:
        said.append(words.say("from", instant=local_text(trigger.not_before, trigger.zone)))
    if trigger.not_after is not None:
        said.append(words.say("until", instant=local_text(trigger.not_after, trigger.zone)))
    if trigger.count is not None:
        said.append(words.say("count", n=trigger.count))
    if trigger.calendar is not None:
        said.append(words.say(f"calendar_{trigger.on_closed}", name=trigger.calendar.name))
    if trigger.jitter:
        said.append(words.say("jitter", length=words.length(trigger.jitter)))
    if trigger.gap != "at_once":
        said.append(words.say(f"gap_{trigger.gap}"))
    if trigger.fold != "first":
        said.append(words.say(f"fold_{trigger.fold}"))
    return said
