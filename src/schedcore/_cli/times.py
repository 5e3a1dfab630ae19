"""Times as people read and write them on a command line."""

from __future__ import annotations

from schedcore.domain.at import parse_instant
from schedcore.domain.clock import SECOND, text
from schedcore.domain.duration import bare_duration_hint, duration_text, parse_duration
from schedcore.domain.errors import Refused
from schedcore.domain.local import local_text

__all__ = ["ago", "beside", "left", "length", "read_instant", "read_past", "span", "there"]

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def there(us: int | None, zone: str) -> str | None:
    """``2026-11-01 09:30:00+01:00``, as the clock of the zone shows it."""
    return None if us is None else local_text(us, zone).replace("T", " ")


def beside(us: int | None, zone: str) -> str | None:
    """UTC, and the zone's clock beside it."""
    if us is None:
        return None
    return text(us) if zone == "UTC" else f"{text(us)} ({there(us, zone)} {zone})"


def span(us: int) -> str:
    """A length in its two largest units: ``3m20s``."""
    seconds = abs(us) // SECOND
    parts: list[str] = []
    for size, unit in _UNITS:
        count, seconds = divmod(seconds, size)
        if count or parts:
            parts.append(f"{count}{unit}" if count else "")
        if len(parts) == 2:
            break
    return "".join(parts) or "0s"


def length(ms: int | None) -> str | None:
    """How long something took: ``340ms``, ``3.2s``, ``1m5s``."""
    if ms is None:
        return None
    if ms < 1_000:
        return f"{ms}ms"
    return f"{ms / 1_000:.1f}s" if ms < 60_000 else span(ms * 1_000)


def left(us: int | None, now: int) -> str | None:
    """How long until an instant; one that is over says since when."""
    if us is None:
        return None
    return span(us - now) if us >= now else f"{span(us - now)} ago"


def ago(us: int | None, now: int) -> str | None:
    """How long since an instant."""
    return None if us is None else f"{span(now - us)} ago"


def read_instant(value: str, zone: str, field: str) -> int:
    """An instant: RFC 3339, or a clock of the zone. A date alone is its midnight. Raises ``Refused``."""
    if hint := bare_duration_hint(value):
        raise Refused(
            f"{value!r} is a length of time, not an instant",
            code="bad_instant",
            field=field,
            value=value,
            hint=f"write an instant such as {text(0)!r}; for a schedule, {hint}",
        )
    return parse_instant(value, zone, field, day_time="00:00")[0]


def read_past(value: str | None, zone: str, now: int, field: str) -> int | None:
    """An instant, or how long ago: ``24h``. Raises ``Refused``."""
    if value is None:
        return None
    if bare_duration_hint(value):
        return now - parse_duration(value, field, maximum=100 * 366 * 86_400) * SECOND
    return read_instant(value, zone, field)


def seconds(value: int) -> str:
    """The short form of whole seconds."""
    return duration_text(value)
