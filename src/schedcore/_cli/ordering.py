"""The fields of a job as options of ``add`` and ``edit``, read into what ``JobOrder`` takes."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from schedcore._cli.command import Command
from schedcore.domain.duration import bare_duration_hint
from schedcore.domain.errors import Refused
from schedcore.domain.trigger_form import kind_of

__all__ = ["OrderCommand", "fields_given", "job_fields"]

F = TypeVar("F", bound=Callable[..., Any])
_META = "schedcore.program"


class OrderCommand(Command):
    """A command whose words after ``--`` are a program and its arguments, and no words of its own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta[_META] = args[at + 1 :]
            args = args[:at]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- PROGRAM ARGUMENTS...]"]


def job_fields(function: F) -> F:
    """The options that set fields of a job."""
    options = (
        click.option("--cron", metavar="EXPR", help='Slots by a cron expression: "0 9 * * 1-5".'),
        click.option("--every", metavar="DURATION", help="One slot each so often: 30m, 2h."),
        click.option(
            "--at", metavar="INSTANT", help="A single slot: 2026-11-01T09:30, with or without offset."
        ),
        click.option("--in", "in_", metavar="DURATION", help="A single slot, this far from now: 30m."),
        click.option("--zone", metavar="ZONE", help="The zone of its clock times, such as Europe/Berlin."),
        click.option("--kind", metavar="KIND", help="The kind of work; script by default."),
        click.option("--name", metavar="TEXT", help="What people call it; its key by default."),
        click.option(
            "--payload", metavar="JSON|@FILE", help="What to do, for its kind; @- reads standard input."
        ),
        click.option(
            "--set",
            "sets",
            multiple=True,
            metavar="FIELD=VALUE",
            help="Any other field, such as attempts=3, timeout=10m or labels.team=ops.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def fields_given(
    ctx: click.Context,
    schedule: str | None,
    sets: tuple[str, ...],
    payload: str | None,
    **options: str | None,
) -> dict[str, Any]:
    """The fields that were given, by their names in a job file. Raises ``Refused``."""
    given: dict[str, Any] = {}
    for assignment in sets:
        _set(given, assignment)
    if schedule is not None:
        options[_kind_of(schedule)] = schedule
    if (zone := options.pop("zone")) is not None:
        _once(given, "zone", zone)
    for name, value in options.items():
        if value is not None:
            _once(given, name.rstrip("_"), value)
    if payload is not None:
        _once(given, "payload", _payload(payload))
    if program := ctx.meta.get(_META):
        body = given.setdefault("payload", {})
        if isinstance(body, Mapping) and not {"args", "command"} & body.keys():
            given["payload"] = {**body, "args": list(program)}
        else:
            raise click.UsageError("the program is given twice: after -- and in the payload")
    return given


def _kind_of(schedule: str) -> str:
    if hint := bare_duration_hint(schedule):
        raise Refused(
            f"{schedule!r} may be each time or once",
            code="bare_duration",
            field="schedule",
            value=schedule,
            hint=hint,
        )
    if " " not in schedule.strip() and not schedule.startswith("@") and kind_of(schedule) != "at":
        raise Refused(
            f"{schedule!r} is no schedule",
            code="bad_schedule",
            field="schedule",
            value=schedule,
            hint='a program stands after --, as in: schedcore add KEY "0 9 * * *" -- PROGRAM ARGUMENTS',
        )
    return kind_of(schedule)


def _set(given: dict[str, Any], assignment: str) -> None:
    name, equals, raw = assignment.partition("=")
    path = name.strip().split(".")
    if not equals or not all(path):
        raise click.BadParameter("write FIELD=VALUE, such as attempts=3", param_hint="--set")
    node = given
    for part in path[:-1]:
        below = node.setdefault(part, {})
        if not isinstance(below, dict):
            raise click.BadParameter(f"{part} is given twice", param_hint="--set")
        node = below
    _once(node, path[-1], _value(raw))


def _value(raw: str) -> Any:
    """The value as TOML, else the text itself."""
    try:
        return tomllib.loads(f"v = {raw}")["v"] if "\n" not in raw else raw
    except tomllib.TOMLDecodeError:
        return raw


def _once(node: dict[str, Any], name: str, value: Any) -> None:
    if name in node:
        raise click.UsageError(f"{name} is given twice")
    node[name] = value


def _payload(raw: str) -> Any:
    try:
        if raw == "@-":
            raw = sys.stdin.read()
        elif raw.startswith("@"):
            raw = Path(raw[1:]).read_text(encoding="utf-8")
        return json.loads(raw)
    except OSError as error:
        raise Refused(
            f"{raw[1:]} cannot be read: {error.strerror}", code="bad_file", field="payload", value=raw
        ) from None
    except ValueError as error:
        hint = """such as '{"args": ["/usr/bin/true"]}', or @FILE"""
        raise Refused(f"not JSON: {error}", code="bad_json", field="payload", value=raw, hint=hint) from None
