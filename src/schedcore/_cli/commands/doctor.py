"""``schedcore doctor`` (R-11)."""

from __future__ import annotations

from typing import Any

import click

from schedcore._cli import answer
from schedcore._cli.command import command as make
from schedcore._cli.ending import BAD
from schedcore._cli.front import Front
from schedcore.domain.lines import escape

__all__ = ["command"]


@make("doctor")
@click.option("--since", default="24h", show_default=True, metavar="WHEN", help="How far back to look.")
def command(front: Front, since: str) -> int:
    """Look for what is wrong.

    It reads and changes nothing. Exit 1 when something is bad; notes alone are exit 0.
    """
    with front.control(plugins=True) as control:
        found = control.doctor(since)
    bad = [finding for finding in found if finding["level"] == "bad"]
    if front.json:
        answer.emit({"ok": not bad, "findings": found})
    else:
        for finding in found:
            sign = (
                click.style("bad ", fg="red")
                if finding["level"] == "bad"
                else click.style("note", fg="yellow")
            )
            click.echo(f"{sign}  {escape(_said(finding))}")
            if finding.get("remedy"):
                answer.line(f"      {finding['remedy']}")
        if not found and not front.quiet:
            answer.line("nothing is wrong")
    return BAD if bad else 0


def _said(finding: dict[str, Any]) -> str:
    about = [f"{name} {finding[name]}" for name in ("job", "run", "host", "plugin") if finding.get(name)]
    return ": ".join([finding["check"], *about, finding["what"]])
