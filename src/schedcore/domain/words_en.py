"""Triggers in English."""

from __future__ import annotations

from schedcore.domain.words import Words

__all__ = ["ENGLISH"]

_DAY = 86_400
_UNITS = ((3_600, "hour"), (60, "minute"), (1, "second"))


def _listed(items: list[str]) -> str:
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _length(seconds: int) -> str:
    if seconds > _DAY and seconds % _DAY == 0:
        return f"{seconds // _DAY} days of 24 hours"
    parts = []
    for size, unit in _UNITS:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {unit}" if count == 1 else f"{count} {unit}s")
    return " ".join(parts) or "0 seconds"


def _named(first: str, last: str | None) -> str:
    return first if last is None else f"{first} to {last}"


def _each(seconds: int) -> str:
    return next((unit for size, unit in _UNITS if size == seconds), _length(seconds))


ENGLISH = Words(
    code="en",
    weekdays=("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"),
    months=(
        *("January", "February", "March", "April", "May", "June"),
        *("July", "August", "September", "October", "November", "December"),
    ),
    ordinals=("first", "second", "third", "fourth", "fifth"),
    listed=_listed,
    weekday=_named,
    month=_named,
    monthday=_named,
    hour=_named,
    minute=_named,
    each=_each,
    length=_length,
    patterns={
        "minutely": "every minute",
        "minutes": "every {n} minutes",
        "hourly": "every hour on the hour",
        "hourly_at": "every hour at minute {minutes}",
        "hourly_at_many": "every hour at minutes {minutes}",
        "hours": "every {n} hours at minute {minutes}",
        "hours_many": "every {n} hours at minutes {minutes}",
        "times": "at {times}",
        "minutely_from": "every minute from {first} to {last}",
        "minutes_from": "every {n} minutes from {first} to {last}",
        "minutes_of_hours": "at minute {minutes} of hour {hours}",
        "minutes_of_hours_many": "at minutes {minutes} of hour {hours}",
        "daily": "every day",
        "workdays": "on weekdays",
        "weekend": "at weekends",
        "weekdays": "on {weekdays}",
        "day": "on day {days} of the month",
        "days": "on days {days} of the month",
        "last_day": "on the last day of the month",
        "nth": "on the {nths} of the month",
        "nth_item": "{which} {weekday}",
        "day_or_weekday": "{day} or {weekday}",
        "day_and_weekday": "on {weekdays} that falls on day {days} of the month",
        "months": "in {months}",
        "time": "{time}",
        "time_day": "{time} {day}",
        "time_month": "{time} every day {month}",
        "time_day_month": "{time} {day} {month}",
        "in_zone": "{what} ({zone})",
        "every": "every {length}",
        "every_from": "every {length}, counted from {anchor}",
        "at": "once, at {local}",
        "plugin": "{kind} {text}",
        "no_trigger": "no trigger",
        "with": "{what}; {more}",
        "from": "from {instant}",
        "until": "until {instant}",
        "count": "at most {n} times",
        "calendar_drop": "not in the closed time of calendar {name}",
        "calendar_move": "moved out of the closed time of calendar {name}",
        "calendar_keep": "in the closed time of calendar {name} too",
        "jitter": "put off by less than {length}",
        "gap_shift": "a time that the clock skips is moved by the length of the gap",
        "gap_skip": "a time that the clock skips is left out",
        "fold_second": "a time that comes twice counts the second time",
        "fold_both": "a time that comes twice counts both times",
        "note_gap_at_once": "{wall} does not exist on {day}; fires at once after the gap",
        "note_gap_at_once_many": "{wall} to {until} do not exist on {day}; fires once, at once after the gap",
        "note_gap_shift": "{wall} does not exist on {day}; moved to {fires}",
        "note_gap_skipped": "{wall} does not exist on {day} and has no slot",
        "note_gap_skipped_many": "{wall} to {until} do not exist on {day} and have no slot",
        "note_fold_first": "{wall} comes twice on {day}; this is the first time",
        "note_fold_second": "{wall} comes twice on {day}; this is the second time",
        "closing_dropped": "dropped, because {entry} is closed in calendar {calendar}",
        "closing_dropped_many": "{n} slots dropped, the first because {entry} is closed in calendar {calendar}",
        "closing_kept": "kept, although {entry} is closed in calendar {calendar}",
        "closing_moved_here": "moved from {other}, because {entry} is closed in calendar {calendar}",
        "closing_moved_away": "moved to {other}, because {entry} is closed in calendar {calendar}",
        "closing_before": "before it: {what}",
        "no_further_slot": "there is no further slot",
        "would_have": "the job is {state}; these are the slots it would have",
    },
)
