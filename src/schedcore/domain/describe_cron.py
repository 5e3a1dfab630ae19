"""A cron expression in words: which pattern fits its fields."""

from __future__ import annotations

from collections.abc import Callable

from schedcore.domain.cron_grammar import CronFields, read_fields
from schedcore.domain.words import Named, Words

__all__ = ["describe_cron"]

_MANY_TIMES = 6


def describe_cron(text: str, words: Words) -> str:
    """A cron text in words, without its zone, e.g. ``at 09:00 on weekdays``."""
    fields = read_fields(text)
    pattern, time = _time(fields, words)
    day = _day(fields, words)
    month = (
        ""
        if _whole(fields.month)
        else words.say("months", months=_names(fields.month, words.months, 1, words.month, words))
    )
    if day and month:
        return words.say("time_day_month", time=time, day=day, month=month)
    if day:
        return words.say("time_day", time=time, day=day)
    if pattern == "times":
        time = words.say("time_day", time=time, day=words.say("daily")) if not month else time
    if month:
        return words.say("time_month", time=time, month=month)
    return words.say("time", time=time)


def _time(fields: CronFields, words: Words) -> tuple[str, str]:
    minute, hour = fields.minute, fields.hour
    step, hour_step = _step(minute, 60), _step(hour, 24)
    if step and _whole(hour):
        return ("minutely", words.say("minutely")) if step == 1 else ("minutes", words.say("minutes", n=step))
    if step and _one_range(hour):
        first, last = _one_range(hour) or (0, 0)
        span = {"first": f"{first:02}:00", "last": f"{last:02}:{60 - step:02}"}
        if step == 1:
            return "minutely_from", words.say("minutely_from", **span)
        return "minutes_from", words.say("minutes_from", n=step, **span)
    if _whole(hour):
        if minute in {"0", "00"}:
            return "hourly", words.say("hourly")
        return "hourly_at", _at_minutes("hourly_at", minute, words)
    if hour_step and not _whole(minute):
        return "hours", _at_minutes("hours", minute, words, n=hour_step)
    minutes, hours = _single(minute), _single(hour)
    if minutes and hours and len(minutes) * len(hours) <= _MANY_TIMES:
        times = [f"{h:02}:{m:02}" for h in sorted(set(hours)) for m in sorted(set(minutes))]
        return "times", words.say("times", times=words.listed(times))
    hours_said = _numbers(hour, 23, words.hour, words)
    return "minutes_of_hours", _at_minutes("minutes_of_hours", minute, words, hours=hours_said)


def _at_minutes(pattern: str, minute: str, words: Words, **more: object) -> str:
    """A pattern with minutes, of which there may be one or many."""
    pattern = pattern if minute.isdigit() else f"{pattern}_many"
    return words.say(pattern, minutes=_numbers(minute, 59, words.minute, words), **more)


def _day(fields: CronFields, words: Words) -> str:
    days, weekdays = fields.day, fields.weekday
    if days == "L":
        return words.say("last_day")
    if "#" in weekdays:
        return words.say("nth", nths=words.listed([_nth(item, words) for item in weekdays.split(",")]))
    if _whole(days) and not fields.either:
        return "" if _whole(weekdays) else _weekdays(weekdays, words)
    if _whole(weekdays) and not fields.either:
        return _days(days, words)
    if fields.either:
        return words.say("day_or_weekday", day=_days(days, words), weekday=_weekdays(weekdays, words))
    names = _names(weekdays, words.weekdays, 0, words.weekday, words)
    return words.say("day_and_weekday", days=_numbers(days, 31, words.monthday, words), weekdays=names)


def _days(text: str, words: Words) -> str:
    return words.say("day" if text.isdigit() else "days", days=_numbers(text, 31, words.monthday, words))


def _weekdays(text: str, words: Words) -> str:
    found = {value % 7 for low, high, step in _items(text, 6) for value in range(low, high + 1, step)}
    if found == {1, 2, 3, 4, 5}:
        return words.say("workdays")
    if found == {0, 6}:
        return words.say("weekend")
    return words.say("weekdays", weekdays=_names(text, words.weekdays, 0, words.weekday, words))


def _nth(item: str, words: Words) -> str:
    weekday, which = item.split("#")
    return words.say("nth_item", which=words.ordinals[int(which) - 1], weekday=words.weekdays[int(weekday)])


def _names(text: str, names: tuple[str, ...], first: int, named: Named, words: Words) -> str:
    """Names of weekdays or months."""
    items = _items(text, first + len(names) - 1)
    return _listed(items, lambda value: names[(value - first) % len(names)], named, words)


def _numbers(text: str, highest: int, named: Named, words: Words) -> str:
    return _listed(_items(text, highest), str, named, words)


def _listed(items: list[tuple[int, int, int]], name: Callable[[int], str], named: Named, words: Words) -> str:
    """The values of a field, ranges of three and more kept, steps written out."""
    said = []
    for low, high, step in items:
        if step == 1 and high - low > 1:
            said.append(named(name(low), name(high)))
        else:
            said += [named(name(value), None) for value in range(low, high + 1, step)]
    return words.listed(list(dict.fromkeys(said)))


def _items(text: str, highest: int) -> list[tuple[int, int, int]]:
    """The list items of a plain field as (low, high, step)."""
    items = []
    for item in text.split(","):
        span, _, step = item.partition("/")
        if span == "*":
            low, high = (0 if highest in (59, 23, 6) else 1), highest
        else:
            first, _, last = span.partition("-")
            low, high = int(first), int(last or first)
        items.append((low, high, int(step or 1)))
    return items


def _single(text: str) -> list[int] | None:
    values = [value for low, high, step in _items(text, 59) for value in range(low, high + 1, step)]
    return values if "*" not in text and len(values) <= _MANY_TIMES else None


def _step(text: str, size: int) -> int | None:
    """The n of ``*/n`` when it divides the field, 1 for ``*``."""
    if text[0] != "*" or "," in text:
        return None
    step = int(text[2:] or 1)
    return step if size % step == 0 and step < size else None


def _whole(text: str) -> bool:
    return text in ("*", "*/1")


def _one_range(text: str) -> tuple[int, int] | None:
    items = _items(text, 23)
    if len(items) != 1 or "*" in text or items[0][2] != 1:
        return None
    return items[0][0], items[0][1]
