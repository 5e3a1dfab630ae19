"""Lengths of time as people write them: ``90s``, ``1h30m``, ``1w``, ``PT1H30M`` (T-03).

Whole seconds only; a day is exactly 86,400 s. Months and years have no length and are refused, and so is
``5M``, which may be a month or a minute.
"""

from __future__ import annotations

import re

from schedcore.domain.errors import Refused, shown

__all__ = ["bare_duration_hint", "duration_text", "parse_duration"]

_UNITS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_LONGEST = 40
_DIGITS = 9
_PLAIN = re.compile(r"(?:[0-9]{1,9}[wdhms])+", re.ASCII)
_PAIR = re.compile(r"([0-9]{1,9})([wdhms])", re.ASCII)
_ISO = re.compile(
    r"P(?:(?P<w>[0-9]{1,9})W|(?:(?P<d>[0-9]{1,9})D)?(?:T(?:(?P<h>[0-9]{1,9})H)?(?:(?P<m>[0-9]{1,9})M)?(?:(?P<s>[0-9]{1,9})S)?)?)",
    re.ASCII,
)
_MONTHS = re.compile(r"P[0-9YMWD]*[YM]|P[0-9]+M.*|P[0-9]+Y.*", re.ASCII)


def parse_duration(
    text: str, field: str | None = None, *, minimum: int = 0, maximum: int = 366 * 86_400
) -> int:
    """Seconds of a duration such as ``90s``, ``1h30m`` or ``PT1H30M``, between ``minimum`` and ``maximum``.

    Raises :class:`Refused` (``bad_duration``) with what to write instead. (T-03)
    """
    seconds = _seconds(text, field)
    if not minimum <= seconds <= maximum:
        what = "shorter than" if seconds < minimum else "longer than"
        bound = minimum if seconds < minimum else maximum
        hint = f"{duration_text(minimum)} to {duration_text(maximum)}"
        raise _bad(text, f"{what} {duration_text(bound)}", hint, field)
    return seconds


def duration_text(seconds: int) -> str:
    """The short form, ``1h30m``; the inverse of :func:`parse_duration`."""
    parts = []
    rest = seconds
    for unit, size in _UNITS.items():
        if unit == "w" and seconds % size:
            continue
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def bare_duration_hint(text: str) -> str | None:
    """For a text whose kind is not known: both ways to write it, if it is a duration at all. (T-03)"""
    try:
        seconds = _seconds(text, None)
    except Refused:
        return None
    short = duration_text(seconds)
    return f"--every {short} for one run each {short}, --in {short} for a single run {short} from now"


def _seconds(text: object, field: str | None) -> int:
    if not isinstance(text, str):
        hint = f"with a unit, such as '{text}s'" if type(text) is int else "such as '30m'"
        raise _bad(text, "a duration is a text", hint, field)
    if len(text) > _LONGEST:
        raise _bad(text, f"{len(text)} characters are too many for a duration", "such as '1h30m'", field)
    if _PLAIN.fullmatch(text):
        pairs = _PAIR.findall(text)
        sizes = [_UNITS[unit] for _, unit in pairs]
        if sizes != sorted(set(sizes), reverse=True):
            raise _bad(text, "units come from large to small, each once", "such as '1h30m'", field)
        return sum(int(number) * _UNITS[unit] for number, unit in pairs)
    found = _ISO.fullmatch(text)
    if found and text[-1] not in "PT":
        return sum(int(found[unit] or 0) * size for unit, size in _UNITS.items())
    raise _strange(text, field)


def _strange(text: str, field: str | None) -> Refused:
    if re.fullmatch(r"[0-9]+", text, re.ASCII):
        short = text if len(text) <= _DIGITS else "90"
        return _bad(text, "no unit", f"'{short}s', '{short}m' or '{short}h'", field)
    if re.fullmatch(r"[0-9]+M", text, re.ASCII):
        return _bad(
            text,
            "M may be a month or a minute",
            f"'{text[:-1]}m' for minutes; months are a job for cron",
            field,
        )
    if re.fullmatch(r"[-+].*", text, re.ASCII | re.DOTALL) or "-" in text:
        return _bad(text, "signs are not taken", "such as '30m'", field)
    if _MONTHS.fullmatch(text) or re.fullmatch(
        r"[0-9]+(?:mo|y|[a-z]*months?|years?)", text, re.ASCII | re.IGNORECASE
    ):
        return _bad(
            text,
            "months and years have no fixed length",
            "days or weeks, or a cron such as '0 9 1 * *'",
            field,
        )
    if re.search(r"[0-9][.,]", text, re.ASCII):
        return _bad(
            text,
            "fractions are not taken",
            "a smaller unit: '1h30m' for 1.5 h; whole seconds at the least",
            field,
        )
    loose = text.replace(" ", "").replace("\t", "").lower()
    if loose != text and loose.isascii() and _PLAIN.fullmatch(loose):
        return _bad(text, "units are small letters, without blanks", f"write {loose!r}", field)
    return _bad(
        text, "cannot be read as a duration", "such as '90s', '30m', '1h30m', '1d', '1w' or 'PT1H30M'", field
    )


def _bad(text: object, what: str, hint: str, field: str | None) -> Refused:
    return Refused(f"{shown(text)}: {what}", code="bad_duration", field=field, value=text, hint=hint)
