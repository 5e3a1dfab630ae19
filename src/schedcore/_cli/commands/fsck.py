"""``schedcore fsck``: is what the ledger says true?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from schedcore._cli import answer, times
from schedcore._cli.command import command as make
from schedcore._cli.ending import BAD
from schedcore._cli.front import Front
from schedcore._cli.progress import bar
from schedcore.domain.clock import parse_text
from schedcore.domain.lines import escape

__all__ = ["command"]


@make("fsck")
@click.option("--since", metavar="WHEN", help="From an instant on, or how long ago: 24h.")
def command(front: Front, since: str | None) -> int:
    """Check that what the ledger says is true.

    Every rule of the ledger, by a program of its own that shares nothing with what decides. It reads one
    consistent view and writes nothing, so hosts may go on meanwhile. Exit 1 on a finding.
    """
    from schedcore._host.auditing import fsck
    from schedcore._host.now import now

    settings = front.settings()
    start = times.read_past(since, front.zone(), now(), "since")
    with bar(front) as progress:
        found = fsck(settings.ledger, settings.policies, since=start, progress=progress)
    if front.json:
        answer.emit(found)
    else:
        _findings(front, found["findings"])
        if not front.quiet:
            _rules(found["rules"])
            _verdict(found)
    return 0 if found["ok"] else BAD


def _findings(front: Front, found: Sequence[Mapping[str, Any]]) -> None:
    remedies: dict[str, str] = {}
    for one in found:
        slot = None if one["slot"] is None else times.beside(parse_text(one["slot"]), front.tz or "UTC")
        about = " ".join(part for part in (one["job"], slot) if part)
        said = f"{about}: {one['what']}" if about else one["what"]
        click.echo(f"{click.style(one['rule'].ljust(3), fg='red')}  {escape(said)}")
        remedies[one["rule"]] = one["remedy"]
    for rule, remedy in remedies.items():
        answer.line(f"  {rule}: {remedy}")
    if found:
        answer.line("")


def _rules(rules: Sequence[Mapping[str, Any]]) -> None:
    """What became of each rule; what was left, and why, below."""
    rows = [(one["rule"], str(one["checked"]), one["of"], str(one["findings"]), one["says"]) for one in rules]
    answer.table(("RULE", "CHECKED", "OF", "FOUND", "WHAT"), rows)
    for one in rules:
        for left in one["not_checked"]:
            times_ = "" if left["count"] == 1 else f" ({left['count']} times)"
            answer.line(f"not checked: {one['rule']}: {left['why']}{times_}")


def _verdict(found: Mapping[str, Any]) -> None:
    if found["ok"]:
        answer.line("what was checked is true")
        return
    many = "1 finding" if found["found"] == 1 else f"{found['found']} findings"
    more = found["found"] - len(found["findings"])
    shown = f"; {more} of them are counted only" if more else ""
    answer.line(many + shown)
