"""``schedcore plugins hooks``."""

from __future__ import annotations

from schedcore._cli import answer
from schedcore._cli.command import command as make
from schedcore._cli.front import Front

__all__ = ["command"]


@make("hooks")
def command(front: Front) -> None:
    """List the hooks and who answers them."""
    from schedcore._host.plugin_hooks import hooks
    from schedcore._host.plugins import gather

    plugins = gather(front.settings())
    told = [
        {
            "hook": name,
            "says": says,
            "plugins": [one.name for one in plugins.report if one.state == "ok" and name in one.hooks],
        }
        for name, says in hooks().items()
    ]
    if front.json:
        answer.emit({"hooks": told})
        return
    rows = [(one["hook"], " ".join(one["plugins"]), one["says"]) for one in told]
    answer.table(("HOOK", "ANSWERED BY", "WHAT IT DECLARES"), rows)
