"""``schedcore config check`` (R-14)."""

from __future__ import annotations

import os
from typing import Any

from schedcore._cli import answer
from schedcore._cli.command import command as make
from schedcore._cli.ending import BAD, USAGE, warn
from schedcore._cli.front import Front

__all__ = ["command"]


@make("check")
def command(front: Front) -> int:
    """Check the settings without starting anything.

    Everything that is wrong is named at once, the tables of plugins and the declared jobs included. Exit 2
    when the settings cannot be used, 1 when a plugin is off or a job is refused.
    """
    from schedcore._host.settings import examine

    found = examine(front.config_path(), os.environ, front.overrides())
    faults: list[dict[str, Any]] = [error.as_dict() for error in found.faults]
    warnings = list(found.warnings)
    code = USAGE if found.settings is None else 0
    if found.settings is not None:
        from schedcore._host.plugins import gather

        plugins = gather(found.settings)
        more = [*_jobs(found.settings, plugins), *_plugins(plugins)]
        faults += more
        code = BAD if more else 0
    if front.json:
        answer.emit({"ok": not faults, "faults": faults, "warnings": warnings})
        return code
    for fault in faults:
        where = f"{fault['field']}: " if fault["field"] else ""
        answer.line(f"{where}{fault['message']}")
        if fault["hint"]:
            answer.line(f"  hint: {fault['hint']}")
    for warning in warnings:
        warn(warning)
    if not faults and not front.quiet:
        answer.line("the settings can be used")
    return code


def _jobs(settings: Any, plugins: Any) -> list[dict[str, Any]]:
    """What would be refused of the declared jobs, as far as that can be told without a ledger."""
    from schedcore._host.job_files import read_all
    from schedcore._host.now import now
    from schedcore.domain.calendar import Calendars
    from schedcore.domain.job import JobOrder

    declared = read_all(settings)
    faults = [error.as_dict() for error in declared.faults]
    for key, order in declared.orders.items():
        errors = JobOrder.errors(
            {"key": key, **order},
            now_us=now(),
            default_zone=settings.timezone,
            floor_s=settings.every_floor,
            trigger_kinds=plugins.trigger_kinds,
            calendars=Calendars(plugins.toolbox.calendars, settings.day_time),
            past_ok=True,
        )
        faults += [error.under(f"jobs.{key}").as_dict() for error in errors]
    return faults


def _plugins(plugins: Any) -> list[dict[str, Any]]:
    """The plugins that are off although they were wanted, and what the settings say of none."""
    told = [(f"plugins.{one.name}", one.error or "it failed") for one in plugins.faults()]
    told += [("plugins", warning) for warning in plugins.warnings]
    return [
        {"code": "plugin_fault", "message": what, "field": field, "value": None, "hint": None}
        for field, what in told
    ]
