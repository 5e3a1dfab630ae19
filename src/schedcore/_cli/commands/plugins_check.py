"""``schedcore plugins check``."""

from __future__ import annotations

from schedcore._cli import answer, plugged
from schedcore._cli.command import command as make
from schedcore._cli.ending import BAD
from schedcore._cli.front import Front
from schedcore.domain.errors import PluginFault

__all__ = ["command"]


@make("check")
def command(front: Front) -> int:
    """Load every plugin and say what is wrong.

    Their commands are loaded, too. Exit 1 when anything is wrong.
    """
    from schedcore._host.plugins import gather

    plugins = gather(front.settings())
    faults: list[dict[str, str | None]] = [
        {"plugin": one.name, "what": one.error or "it failed"} for one in plugins.faults()
    ]
    faults += [{"plugin": None, "what": warning} for warning in plugins.warnings]
    for name, who in plugged.names().items():
        try:
            plugged.command(name)
        except PluginFault as error:
            faults.append({"plugin": who, "what": error.message})
    if front.json:
        answer.emit({"ok": not faults, "faults": faults})
    else:
        for fault in faults:
            answer.line(f"{fault['plugin']}: {fault['what']}" if fault["plugin"] else str(fault["what"]))
        if not faults and not front.quiet:
            count = sum(one.state == "ok" for one in plugins.report)
            answer.line(f"{count} plugins are in order")
    return BAD if faults else 0
