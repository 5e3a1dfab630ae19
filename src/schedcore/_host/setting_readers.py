"""Readers of settings that no other room has: sizes, groups, ledger URLs, references to secrets.

Each takes a value and its field path and gives the value back or refuses it, as those of
:mod:`schedcore.domain.reading` do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from schedcore.domain.calendar import Calendar
from schedcore.domain.errors import Refused, nearest
from schedcore.domain.masking import Masker
from schedcore.domain.policy import Policies
from schedcore.domain.policy_fields import name_text
from schedcore.domain.reading import path, plain, seconds, table, unknown, whole, wrong

__all__ = [
    "Group",
    "SecretSource",
    "mask_url",
    "read_bytes",
    "read_calendars",
    "read_groups",
    "read_ledger",
    "read_policies",
    "read_secrets",
    "read_zone",
]

_SIZE = re.compile(r"([0-9]{1,12})[ ]?(KiB|MiB|GiB|B)?", re.ASCII)
_UNITS = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}
_LEAST_OUTPUT, _MOST_OUTPUT = 8 * 1024, 1024**4
_SCHEME = re.compile(r"[a-z][a-z0-9+]*://", re.ASCII)
_DAY = 86_400
_SOURCES = ("env", "file", "credential")


@dataclass(frozen=True, slots=True)
class Group:
    """A limit that holds across all hosts (P-19): runs at once, and at most ``rate`` starts in ``window`` s."""

    places: int
    rate: int | None = None
    window: int | None = None


@dataclass(frozen=True, slots=True)
class SecretSource:
    """Where the value of a secret is: ``how`` is ``env``, ``file`` or ``credential``."""

    how: str
    where: str


def mask_url(text: str) -> str:
    """The text with the password of a URL masked, even one with ``@`` or ``/`` in it."""
    return Masker().text(re.sub(r"(://[^:/@?\s]*:)[^?\s]*@", r"\1[masked:password]@", text))


def read_ledger(value: Any, field: str) -> str:
    """A URL of SQLAlchemy; what it names is asked when it is opened."""
    if not isinstance(value, str) or not _SCHEME.match(value):
        # What was meant cannot be told, so neither can what of it is a password.
        shown = "[masked]" if "@" in str(value) else value
        hint = "such as 'sqlite:////var/lib/schedcore/ledger.db' or 'postgresql://user@host/name'"
        raise wrong(f"{shown!r} is not the URL of a ledger", field, shown, "ledger_url", hint)
    return value


def absolute_ledger(url: str, folder: Path) -> str:
    """The URL with a relative SQLite file put below ``folder``, so that all processes mean one file."""
    scheme, slashes, rest = url.partition(":///")
    if not slashes or scheme.split("+")[0] != "sqlite" or not rest or rest.startswith((":", "file:")):
        return url
    return f"{scheme}:///{absolute(rest, folder)}"


def absolute(text: str | Path, folder: Path) -> Path:
    """The path; ``~/`` is the user's home, and a relative one is below ``folder``."""
    found = Path(text).expanduser() if str(text).startswith("~/") else Path(text)
    return found if found.is_absolute() else folder.absolute() / found


def read_bytes(value: Any, field: str) -> int:
    """A size: a number of bytes, or a text such as ``64MiB``; 0 is no limit."""
    if isinstance(value, str):
        found = _SIZE.fullmatch(value.strip())
        if found is None:
            raise wrong(f"{value!r} is not a size", field, value, "bad_size", "bytes, or such as '64MiB'")
        value = int(found[1]) * _UNITS[found[2] or "B"]
    return whole(value, field, _LEAST_OUTPUT, _MOST_OUTPUT, or_zero=True)


def read_zone(value: Any, field: str) -> str:
    """A zone with a name."""
    from schedcore.domain.zones import zone

    try:
        zone(value)
    except Refused as error:
        raise error.under(field) from None
    return str(value)


def read_groups(value: Any, field: str) -> Mapping[str, Group]:
    """``{mail = 2}`` or ``{mail = {places = 2, rate = 10, window = "1m"}}``."""
    groups = {}
    for name, given in table(value, field).items():
        at = path(field, name)
        name_text(name, at)
        if not isinstance(given, Mapping):
            groups[name] = Group(whole(given, at, 1, 1_000))
            continue
        known = ("places", "rate", "window")
        for part in given:
            if part not in known:
                raise unknown(path(at, part), given[part], part, known)
        if "places" not in given:
            raise wrong("a group says how many runs it lets run at once", at, None, "missing", "places = 2")
        if ("rate" in given) != ("window" in given):
            raise wrong("rate and window go together", at, dict(given), "contradiction", 'window = "1m"')
        groups[name] = Group(
            whole(given["places"], path(at, "places"), 1, 1_000),
            whole(given["rate"], path(at, "rate"), 1, 100_000) if "rate" in given else None,
            seconds(given["window"], path(at, "window"), 1, 31 * _DAY) if "window" in given else None,
        )
    return MappingProxyType(groups)


def read_calendars(value: Any, field: str) -> Mapping[str, Calendar]:
    """``NAME = {closed = ["sunday", "12-25", 2026-04-06], quiet = ["22:00-07:00"], day_time = "09:00"}``."""
    return MappingProxyType(
        {
            name_text(name, path(field, name)): Calendar.parse(name, given, path(field, name))
            for name, given in table(value, field).items()
        }
    )


def read_policies(value: Any, field: str) -> Policies:
    """The policies of all jobs on this host that say nothing themselves."""
    policies = Policies.parse(table(value, field), field)
    if policies.secrets:
        hint = "name the secrets in each job"
        raise wrong("secrets are granted to a job, not to all", f"{field}.secrets", None, "granted", hint)
    return policies


def read_secrets(value: Any, field: str) -> Mapping[str, SecretSource]:
    """``NAME = {env = "X"}``, ``{file = "path"}`` or ``{credential = "name"}``; never a value (R-15)."""
    return MappingProxyType(
        {name: _source(given, path(field, name), name) for name, given in table(value, field).items()}
    )


def _source(given: Any, field: str, name: str) -> SecretSource:
    name_text(name, field)
    hint = '{env = "VARIABLE"}, {file = "path"} or {credential = "name"}'
    if not isinstance(given, Mapping):
        raise wrong("a secret is named here, its value is elsewhere", field, "[masked]", "secret_value", hint)
    if len(given) != 1:
        raise wrong("a secret has one source", field, sorted(given), "secret_source", hint)
    ((how, where),) = given.items()
    if how not in _SOURCES:
        near = nearest(how, _SOURCES) or hint
        raise wrong("there is no such source of secrets", path(field, how), "[masked]", "unknown_field", near)
    return SecretSource(how, plain(where, path(field, how), 4_096))
