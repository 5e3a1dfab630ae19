"""From the written form of a trigger to checked values: rule, zone, bounds, calendar, count, jitter (T-01, P-33)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from schedcore.domain.at import At, is_date, parse_instant
from schedcore.domain.calendar import ON_CLOSED, Calendar, Calendars
from schedcore.domain.calendar_entries import read_day_time
from schedcore.domain.clock import MILLISECOND, SECOND, text
from schedcore.domain.cron import Cron, parse_cron
from schedcore.domain.duration import parse_duration
from schedcore.domain.errors import PluginFault, Refused, SchedcoreError, shown
from schedcore.domain.every import Every, parse_every
from schedcore.domain.reading import choice
from schedcore.domain.slots import Offered, SlotRule
from schedcore.domain.timeline import ALWAYS
from schedcore.domain.trigger_form import Form
from schedcore.domain.zones import zone as known_zone

__all__ = ["MAX_COUNT", "MAX_JITTER_S", "TriggerKinds", "read_parts"]

MAX_COUNT = 1_000_000
MAX_JITTER_S = 180

#: Trigger kinds of plugins: a name, and a function of (text, zone key) that gives the rule, or at least an
#: object with its ``next``, or raises ``Refused``.
TriggerKinds = Mapping[str, Callable[[str, str], Any]]


def read_parts(
    form: Form,
    path: str,
    now_us: int,
    default_zone: str,
    floor_s: int,
    kinds: TriggerKinds,
    calendars: Calendars | None,
    *,
    anchor_given: bool = True,
) -> dict[str, Any]:
    """The fields of a :class:`Trigger`, by name. Raises :class:`Refused` with the path below ``path``.

    ``now_us`` becomes the anchor of an interval that has none; ``anchor_given`` says of an anchor in the form
    whether it is a slot itself. ``calendars`` is ``None`` for a stored form, which holds its calendar whole.
    """
    if form.kind == "in":
        seconds = parse_duration(form.text, form.field, minimum=1)
        form = Form("at", text(now_us + seconds * SECOND), form.field, form.rest)
    rest = form.rest
    calendar = _calendar(rest, calendars, path)
    form = _with_time(form, calendar, calendars, path)
    zone = _zone(rest.get("zone", default_zone), f"{path}.zone")
    anchor = None
    if "anchor" in rest and form.kind == "every":
        anchor = parse_instant(rest["anchor"], zone, f"{path}.anchor")[0]
    elif "anchor" in rest:
        raise Refused(
            "only an interval has an anchor", code="not_taken", field=f"{path}.anchor", hint="drop it"
        )
    given = anchor is not None and anchor_given
    if form.kind == "every":
        period = parse_every(form.text, form.field, floor_s=floor_s)
        anchor = now_us // MILLISECOND * MILLISECOND if anchor is None else anchor
        rule: SlotRule = Every(period, anchor, given=given)
    else:
        rule = _rule(form, zone, rest, path, kinds)
    _check_fixed(rule, rest, path)
    before, after = _bounds(rest, zone, path)
    _check_reachable(rule, before, after, path)
    return {
        "kind": form.kind,
        "text": form.text,
        "zone": zone,
        "rule": rule,
        "gap": rest.get("gap", "at_once"),
        "fold": rest.get("fold", "first"),
        "not_before": before,
        "not_after": after,
        "count": _count(rest.get("count"), f"{path}.count"),
        "jitter": _jitter(rest.get("jitter", 0), form.kind, f"{path}.jitter"),
        "anchor": anchor,
        "anchor_given": given,
        "calendar": calendar,
        "on_closed": _on_closed(rest, f"{path}.on_closed"),
    }


def _calendar(rest: Mapping[str, Any], calendars: Calendars | None, path: str) -> Calendar | None:
    value = rest.get("calendar")
    if value is None:
        return None
    at = f"{path}.calendar"
    return Calendar.from_dict(value, at) if calendars is None else calendars.named(value, at)


def _on_closed(rest: Mapping[str, Any], path: str) -> str:
    if "on_closed" not in rest:
        return ON_CLOSED[0]
    if "calendar" not in rest:
        hint = "add calendar = NAME, or take it away"
        raise Refused(
            "without a calendar no time is closed",
            code="not_taken",
            field=path,
            value=rest["on_closed"],
            hint=hint,
        )
    return choice(rest["on_closed"], path, ON_CLOSED)


def _with_time(form: Form, calendar: Calendar | None, calendars: Calendars | None, path: str) -> Form:
    """The form with the time of a date alone filled in, where a day rule applies (F-15)."""
    own, at = form.rest.get("day_time"), f"{path}.day_time"
    alone = form.kind == "at" and is_date(form.text)
    if own is not None:
        own = read_day_time(own, at)
        if not alone:
            hint = "take day_time away"
            raise Refused(
                "only a date without a time takes it", code="not_taken", field=at, value=own, hint=hint
            )
    if not alone or calendars is None:
        return form
    time = calendars.time_of_date(own, calendar)
    if time is None:
        hint = f"write '{form.text}T{calendars.day_time}', or give day_time = '{calendars.day_time}'"
        raise Refused(
            f"{shown(form.text)}: a date alone names no time",
            code="bad_instant",
            field=form.field,
            value=form.text,
            hint=hint,
        )
    return Form("at", f"{form.text}T{time}", form.field, form.rest)


def _rule(form: Form, zone: str, rest: Mapping[str, Any], path: str, kinds: TriggerKinds) -> SlotRule:
    if not isinstance(form.text, str):
        hint = "put it in quotes"
        raise Refused(f"{form.kind} is a text", code="bad_type", field=form.field, value=form.text, hint=hint)
    if form.kind == "at":
        return At(*parse_instant(form.text, zone, form.field))
    if form.kind != "cron":
        return _offered(form, zone, kinds)
    try:
        return parse_cron(form.text, zone, gap=rest.get("gap", "at_once"), fold=rest.get("fold", "first"))
    except Refused as error:
        error.field = f"{path}.{error.field}" if error.field else form.field
        raise


def _offered(form: Form, zone: str, kinds: TriggerKinds) -> SlotRule:
    """A plugin's rule. Whatever it raises that is not ours gets the name of the kind."""
    try:
        return Offered(form.kind, kinds[form.kind](form.text, zone))
    except Refused as error:
        error.field = error.field or form.field
        raise
    except SchedcoreError:
        raise
    except Exception as error:
        raise PluginFault(
            f"trigger kind {form.kind!r} failed: {type(error).__name__}: {error}",
            code="trigger_fault",
            field=form.field,
            value=form.text,
            hint="the plugin that offers the kind must be repaired",
        ) from error


def _zone(value: Any, path: str) -> str:
    try:
        known_zone(value)
    except Refused as error:
        error.field = path
        raise
    return str(value)


def _check_fixed(rule: SlotRule, rest: Mapping[str, Any], path: str) -> None:
    if not {"gap", "fold"} & rest.keys() or (isinstance(rule, Cron) and rule.fixed):
        return
    name = "gap" if "gap" in rest else "fold"
    raise Refused(
        "only a cron of fixed times may choose it: minute and hour without '*'",
        code="not_fixed",
        field=f"{path}.{name}",
        value=rest[name],
        hint=f"take {name} away",
    )


def _bounds(rest: Mapping[str, Any], zone: str, path: str) -> tuple[int | None, int | None]:
    before = after = None
    if "not_before" in rest:
        before = parse_instant(rest["not_before"], zone, f"{path}.not_before")[0]
    if "not_after" in rest:
        after = parse_instant(rest["not_after"], zone, f"{path}.not_after")[0]
    if before is not None and after is not None and after < before:
        raise Refused(
            f"{text(after)} is before not_before, {text(before)}",
            code="bad_bounds",
            field=f"{path}.not_after",
            value=rest["not_after"],
            hint="exchange them",
        )
    return before, after


def _check_reachable(rule: SlotRule, before: int | None, after: int | None, path: str) -> None:
    """Refuse bounds without a slot between them, where that can be known: both given, or a one-shot."""
    if isinstance(rule, At) or (before is not None and after is not None):
        slot = rule.next(ALWAYS if before is None else before - 1)
        if slot is None or (after is not None and slot > after):
            hint = "widen not_before and not_after"
            raise Refused("no slot lies within the bounds", code="never_fires", field=path, hint=hint)


def _count(value: Any, path: str) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 1 <= value <= MAX_COUNT:
        raise Refused(
            f"{shown(value)} is no count",
            code="bad_count",
            field=path,
            value=value,
            hint=f"a number, 1 to {MAX_COUNT}",
        )
    return value


def _jitter(value: Any, kind: str, path: str) -> int:
    if isinstance(value, str):
        value = parse_duration(value, path, maximum=MAX_JITTER_S)
    if type(value) is not int or not 0 <= value <= MAX_JITTER_S:
        hint = f"seconds, 0 to {MAX_JITTER_S}"
        raise Refused(f"{shown(value)} is no jitter", code="bad_jitter", field=path, value=value, hint=hint)
    if value and kind == "at":
        raise Refused(
            "a one-shot has no jitter", code="not_taken", field=path, value=value, hint="take it away"
        )
    return value
