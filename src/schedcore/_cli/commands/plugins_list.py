"""``schedcore plugins list``."""

from __future__ import annotations

from dataclasses import asdict

from schedcore._cli import answer, plugged
from schedcore._cli.command import command as make
from schedcore._cli.ending import warn
from schedcore._cli.front import Front

__all__ = ["command"]


@make("list")
def command(front: Front) -> None:
    """List the plugins and what they offer.

    Those that are off are listed with the reason.
    """
    from schedcore._host.plugins import gather

    plugins = gather(front.settings())
    if front.json:
        answer.emit(
            {
                "plugins": [asdict(one) for one in plugins.report],
                "commands": plugged.names(),
                "warnings": list(plugins.warnings),
            }
        )
        return
    rows = [
        (one.name, one.version, one.state, " ".join(one.kinds), one.distribution, one.error)
        for one in plugins.report
    ]
    answer.table(("PLUGIN", "VERSION", "STATE", "KINDS", "DISTRIBUTION", "WHY"), rows)
    if names := plugged.names():
        answer.line("commands: " + ", ".join(f"{name} ({who})" for name, who in names.items()))
    for warning in plugins.warnings:
        warn(warning)
