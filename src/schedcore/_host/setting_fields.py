"""Every setting of the core, one line each: its key, how it is read, and what it is for.

Defaults stand on :class:`schedcore._host.settings.Settings`. Both ends of a range are allowed; outside it a
value is refused, never clamped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from schedcore._host import setting_readers as read
from schedcore.domain.calendar_entries import MOST_CLOSED, MOST_QUIET, read_day_time
from schedcore.domain.names import POLICY_FIELDS
from schedcore.domain.policy_fields import name_text
from schedcore.domain.reading import choice, plain, seconds, texts, whole
from schedcore.domain.words import LANGUAGES

__all__ = ["FIELDS", "RAW", "TABLES", "WEAKER", "Field"]


@dataclass(frozen=True, slots=True)
class Field:
    """One setting. ``attribute`` is its name on ``Settings``; ``shape`` is what a variable's text becomes."""

    key: str
    read: Callable[[Any, str], Any]
    says: str
    schema: Mapping[str, Any]
    shape: str = "any"
    attribute: str = field(default="")

    @property
    def on(self) -> str:
        """The attribute of ``Settings`` that holds it."""
        return self.attribute or self.key


def _number(key: str, low: int, high: int, says: str) -> Field:
    schema = {"type": "integer", "minimum": low, "maximum": high}
    return Field(key, lambda value, at: whole(value, at, low, high), says, schema)


def _length(key: str, low: int, high: int, says: str, *, or_zero: bool = False) -> Field:
    number = {"type": "integer", "minimum": 0 if or_zero else low, "maximum": high}
    schema = {"anyOf": [number, {"type": "string"}]}
    return Field(key, lambda value, at: seconds(value, at, low, high, or_zero=or_zero), says, schema)


def _text(key: str, reader: Callable[[Any, str], Any], says: str, attribute: str = "") -> Field:
    return Field(key, reader, says, {"type": "string"}, "text", attribute)


def _words(key: str, words: tuple[str, ...], says: str, attribute: str = "") -> Field:
    schema = {"enum": list(words)}
    return Field(key, lambda value, at: choice(value, at, words), says, schema, "text", attribute)


def _names(key: str, says: str, attribute: str = "") -> Field:
    schema = {"type": "array", "items": {"type": "string"}, "maxItems": 100}
    return Field(key, lambda value, at: texts(value, at, 100, name_text), says, schema, "list", attribute)


def _table(key: str, reader: Callable[[Any, str], Any], says: str, of: Mapping[str, Any]) -> Field:
    return Field(key, reader, says, {"type": "object", **of})


def _patterns(value: Any, at: str) -> tuple[str, ...]:
    given = [value] if isinstance(value, str) else value
    return texts(given, at, 100, lambda item, where: plain(item, where, 4_096))


def _some_of(key: str, words: tuple[str, ...], says: str) -> Field:
    schema = {"type": "array", "items": {"enum": list(words)}}
    return Field(
        key,
        lambda value, at: texts(value, at, len(words), lambda item, where: choice(item, where, words)),
        says,
        schema,
        "list",
    )


_DAY = 86_400
WEAKER = ("fsync", "full_page_writes", "synchronous_commit")
"""What a PostgreSQL server may promise less of (G5)."""
_GROUP = {
    "type": "object",
    "properties": {
        "places": {"type": "integer", "minimum": 1, "maximum": 1_000},
        "rate": {"type": "integer", "minimum": 1, "maximum": 100_000},
        "window": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]},
    },
    "required": ["places"],
    "additionalProperties": False,
}
_CALENDAR = {
    "type": "object",
    "properties": {
        "closed": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_CLOSED},
        "quiet": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_QUIET},
        "day_time": {"type": "string"},
    },
    "additionalProperties": False,
}
_SECRET = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("env", "file", "credential")},
    "minProperties": 1,
    "maxProperties": 1,
    "additionalProperties": False,
}

FIELDS: Mapping[str, Field] = {
    one.key: one
    for one in (
        _text("ledger", read.read_ledger, "URL of the ledger; unset, a SQLite file in the state folder."),
        _some_of(
            "accept_weaker",
            WEAKER,
            "Settings of the ledger's server that may promise less than durable; one not named stops the start.",
        ),
        _text(
            "state_folder", lambda value, at: plain(value, at, 4_096), "Folder of the ledger and its files."
        ),
        _text(
            "backup_folder",
            lambda value, at: plain(value, at, 4_096),
            "Where backups go; unset, `backups` in the state folder.",
        ),
        _number("backup_keep", 1, 365, "Backups that stay in their folder, the newest."),
        _text("name", name_text, "Name of this host; unset, machine and process number."),
        _text("timezone", read.read_zone, "Zone of triggers that name none."),
        _words("language", LANGUAGES, "Language of triggers in words and of notes at slots."),
        _number("workers", 1, 256, "Attempts at once on this host."),
        _length("beat", 1, 3_600, "Between two beats."),
        _length("lease", 15, 900, "How long a lease lasts without renewal."),
        _number("batch", 1, 500, "Slots opened in one transaction, at most."),
        _number("claim_ahead", 0, 500, "Quick runs claimed ahead of free workers; 0 turns it off."),
        _length("catch_up_apart", 0, 300, "Between two starts of late runs."),
        _length(
            "late_warning", 1, 366 * _DAY, "A start later than this is warned of; 0 is off.", or_zero=True
        ),
        _length("drain", 0, 3_600, "How long a stop waits for running work."),
        _length("kill_grace", 0, 300, "How long work may take to end after it was told to."),
        _length("every_floor", 1, 60, "The shortest interval a job may ask for."),
        _text("day_time", read_day_time, "When a date without a time fires, where a day rule applies."),
        Field(
            "output_max",
            read.read_bytes,
            "Bytes kept of one attempt's output; 0 never cuts.",
            {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]},
        ),
        _names("tags", "What this host has, for jobs that ask for it."),
        _text("environment", name_text, "The one environment this host is of."),
        _words("logging.level", ("debug", "info", "warning", "error"), "What is logged.", "log_level"),
        _words("logging.format", ("auto", "text", "json"), "How a service logs.", "log_format"),
        _table(
            "groups",
            read.read_groups,
            "Limits across all hosts, by name.",
            {
                "additionalProperties": {
                    "anyOf": [{"type": "integer", "minimum": 1, "maximum": 1_000}, _GROUP]
                }
            },
        ),
        _table(
            "calendars",
            read.read_calendars,
            "Closed days and quiet hours that jobs may name.",
            {"additionalProperties": _CALENDAR},
        ),
        _table(
            "policies",
            read.read_policies,
            "Policies of jobs that say nothing themselves.",
            {"properties": {name: {} for name in POLICY_FIELDS.own if name != "secrets"}},
        ),
        _table(
            "secrets",
            read.read_secrets,
            "Where the values of secrets are; never a value.",
            {"additionalProperties": _SECRET},
        ),
        _names(
            "plugins.enabled", "Load these plugins only; unset, all that are installed.", "plugins_enabled"
        ),
        _names("plugins.disabled", "Load all but these plugins.", "plugins_disabled"),
        Field(
            "job_files",
            _patterns,
            "Folders, or globs of TOML files, that declare jobs; relative to this file.",
            {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
            "list",
        ),
    )
}
"""By dotted key."""

TABLES = frozenset(key.split(".")[0] for key in FIELDS if "." in key)
"""Tables whose own keys are settings."""

RAW = {
    "jobs": {"type": ["object", "array"], "description": "Jobs by key, or a list of jobs."},
    "plugins": {"type": "object", "additionalProperties": {"type": "object"}},
}
"""Tables the core hands on as they are."""
