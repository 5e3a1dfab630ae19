"""Keys and placeholders: the delivery key of an event, and the names that work finds its keys under.

A delivery key is a template in the domain of the event (D-17, D-18, D-20, D-23); date and hour are those of
the *slot* in the *job's* zone. Payload texts know two placeholders, each with a legacy name (D-03 to D-05);
any other text, double braces included, passes byte for byte. The run key itself is
:func:`schedcore.domain.run.run_key`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import tzinfo
from typing import Any

from schedcore.domain.clock import from_us, text
from schedcore.domain.errors import Refused, nearest
from schedcore.domain.zones import zone as zone_of

__all__ = ["EmptyKey", "check_template", "check_texts", "render_key", "render_texts", "variables"]

_TEMPLATE_MAX = 200
_KEY_MAX = 255
_JOB_ID_MAX = 64
_SLOT_TEXT = 24
_WIDTHS = {
    "jobId": _JOB_ID_MAX,
    "runKey": _JOB_ID_MAX + 1 + _SLOT_TEXT,
    "scheduledFor": _SLOT_TEXT,
    "date": 8,
    "hour": 2,
    "slot": 4,
}
_IN_KEY = re.compile(r"\{\{(" + "|".join(_WIDTHS) + r")\}\}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_IN_TEXT = {
    "run_key": "run_key",
    "DSH_SCHED_RUN_KEY": "run_key",
    "delivery_key": "delivery_key",
    "DSH_SCHED_DELIVERY_KEY": "delivery_key",
}
_KNOWN = re.compile(r"\{\{(" + "|".join(_IN_TEXT) + r")\}\}")
_CLAIMED = re.compile(r"\{\{[ \t]*((?:dsh_sched_|schedcore_)\w*)[ \t]*(?:\}\})?", re.IGNORECASE | re.ASCII)


class EmptyKey(Refused):
    """A placeholder without a value; the run ends ``blocked: empty_key`` and nothing is spawned (D-05)."""

    default_code = "empty_key"


def check_template(template: Any, field: str = "delivery_key") -> str:
    """The template of a delivery key, if it may be one; else :class:`Refused`.

    At most 200 characters, no control characters, only the six placeholders, never empty, and never longer
    than 255 when rendered.
    """

    def no(message: str, code: str, hint: str | None = None) -> Refused:
        return Refused(message, code=code, field=field, value=template, hint=hint)

    if not isinstance(template, str):
        raise no(f"{template!r} is not a text", "bad_type")
    if len(template) > _TEMPLATE_MAX:
        raise no(f"the template has {len(template)} characters", "length", f"at most {_TEMPLATE_MAX}")
    if not template.strip():
        raise no("the delivery key would be empty", "empty_key", "leave it out to use the run key")
    if _CONTROL.search(template):
        raise no("the template holds a control character", "control_character")
    rest = _IN_KEY.sub("", template)
    if "{{" in rest or "}}" in rest:
        names = re.findall(r"\{\{([^{}]*)\}\}", rest)
        near = nearest(names[0].strip(), tuple(_WIDTHS)) if names else None
        listed = "one of: " + ", ".join("{{" + name + "}}" for name in _WIDTHS)
        what = (
            "{{" + names[0] + "}} is not a placeholder of a key" if names else "the braces are not balanced"
        )
        raise no(what, "unknown_placeholder", f"{near} {listed}" if near else listed)
    longest = len(rest) + sum(_WIDTHS[name] for name in _IN_KEY.findall(template))
    if longest > _KEY_MAX:
        raise no(f"the key may become {longest} characters long", "length", f"at most {_KEY_MAX}")
    return template


def render_key(
    template: str | None, *, job_id: str, run_key: str, scheduled_for: int, zone: tzinfo | str
) -> str:
    """The delivery key of a run; without a template it is the run key (D-20).

    ``scheduled_for`` is the slot in microseconds, ``zone`` the job's. Raises :class:`EmptyKey` when nothing
    is left, and :class:`Refused` (``length``) beyond 255 characters.
    """
    if template is None:
        return run_key
    local = from_us(scheduled_for).astimezone(zone_of(zone) if isinstance(zone, str) else zone)
    values = {
        "jobId": job_id,
        "runKey": run_key,
        "scheduledFor": text(scheduled_for),
        "date": f"{local:%Y%m%d}",
        "hour": f"{local:%H}",
        "slot": f"{local:%H%M}",
    }
    key = _IN_KEY.sub(lambda found: values[found[1]], template)
    if not key.strip():
        raise EmptyKey("the delivery key is empty", field="delivery_key", value=template)
    if len(key) > _KEY_MAX:
        raise Refused(
            f"the delivery key has {len(key)} characters", code="length", field="delivery_key", value=key
        )
    return key


def check_texts(payload: Any, field: str = "payload") -> None:
    """Refuse what looks like one of our placeholders and is none, in any text of a payload (D-04)."""
    for where, words in _texts(payload, field):
        if "{{" not in words:
            continue
        for found in _CLAIMED.finditer(words):
            if _KNOWN.fullmatch(found[0]):
                continue
            near = nearest(found[1].upper(), tuple(_IN_TEXT)) or "one of: " + ", ".join(
                "{{" + name + "}}" for name in _IN_TEXT
            )
            raise Refused(
                f"{found[0]} is not a placeholder",
                code="unknown_placeholder",
                field=where,
                value=found[0],
                hint=near,
            )


def _texts(value: Any, where: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    line = [(where, value)]
    while line:
        where, value = line.pop()
        if isinstance(value, str):
            found.append((where, value))
        elif isinstance(value, Mapping):
            line.extend((f"{where}.{name}", inner) for name, inner in reversed(list(value.items())))
        elif isinstance(value, list | tuple):
            line.extend((f"{where}[{i}]", value[i]) for i in range(len(value) - 1, -1, -1))
    return found


def render_texts(
    payload: Any,
    values: Mapping[str, str],
    verbatim: frozenset[str] = frozenset(),
    *,
    json_text: str | bytes | None = None,
) -> Any:
    """The payload with its placeholders replaced by ``values["run_key"]`` and ``values["delivery_key"]``.

    What has nothing to replace is returned as the same object; ``json_text``, the payload as stored, makes
    that free where it holds no ``{{``. Top-level fields in ``verbatim`` are left to their executor. Raises
    :class:`EmptyKey` where a placeholder is met whose value is empty.
    """
    if json_text is not None and (
        "{{" not in json_text if isinstance(json_text, str) else b"{{" not in json_text
    ):
        return payload
    if verbatim and isinstance(payload, Mapping):
        done = {k: v if k in verbatim else _render(v, values) for k, v in payload.items()}
        return payload if all(done[k] is v for k, v in payload.items()) else done
    return _render(payload, values)


def _render(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        if "{{" not in value:
            return value
        replaced, count = _KNOWN.subn(lambda found: _value(found[1], values), value)
        return replaced if count else value
    if isinstance(value, Mapping):
        table = {name: _render(inner, values) for name, inner in value.items()}
        return value if all(table[name] is inner for name, inner in value.items()) else table
    if isinstance(value, list | tuple):
        items = [_render(inner, values) for inner in value]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else items
    return value


def _value(name: str, values: Mapping[str, str]) -> str:
    value = values.get(_IN_TEXT[name], "")
    if not value.strip():
        raise EmptyKey("{{" + name + "}} has no value for this run", field="payload", value=name)
    return value


def variables(
    *,
    job: str,
    run: int | str,
    run_key: str,
    delivery_key: str,
    scheduled_for: int,
    attempt: int,
    trigger: str,
    report: str | None = None,
    quarantine: str | None = None,
) -> dict[str, str]:
    """The variables that work is given (``features.md`` 0). ``scheduled_for`` is in microseconds, ``job`` the
    job's key, ``report`` and ``quarantine`` paths; what is ``None`` is left out."""
    given = {
        "SCHEDCORE_JOB": job,
        "SCHEDCORE_RUN": str(run),
        "SCHEDCORE_RUN_KEY": run_key,
        "SCHEDCORE_DELIVERY_KEY": delivery_key,
        "SCHEDCORE_SCHEDULED_FOR": text(scheduled_for),
        "SCHEDCORE_ATTEMPT": str(attempt),
        "SCHEDCORE_TRIGGER": trigger,
        "DSH_SCHED_RUN_KEY": run_key,
        "DSH_SCHED_DELIVERY_KEY": delivery_key,
    }
    if report is not None:
        given["SCHEDCORE_REPORT"] = report
    if quarantine is not None:
        given["SCHEDCORE_QUARANTINE"] = quarantine
    return given
