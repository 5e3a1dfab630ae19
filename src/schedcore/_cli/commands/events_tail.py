"""``schedcore events tail``."""

from __future__ import annotations

from collections.abc import Iterator

import click

from schedcore._cli import answer
from schedcore._cli.command import command as make
from schedcore._cli.commands.history import tell
from schedcore._cli.front import Front

__all__ = ["command"]


@make("tail")
@click.option("-f", "--follow", is_flag=True, help="Go on with what comes, until interrupted.")
@click.option("-n", "n", type=click.IntRange(0, 100_000), default=20, show_default=True, metavar="N")
@click.option("--after", type=click.IntRange(0), metavar="ID", help="Those that follow this event.")
def command(front: Front, follow: bool, n: int, after: int | None) -> None:
    """Print the newest events, and follow them.

    With --json, one object a line.
    """
    with front.control() as control:
        found = control.events(after=after, limit=n) if n else []
        _print(front, iter(found))
        if follow:
            newest = max((event["id"] for event in found), default=after)
            _print(front, control.follow_events(after=newest))


def _print(front: Front, events: Iterator[dict[str, object]]) -> None:
    for event in events:
        if front.json:
            answer.emit(event)
        else:
            tell(front, event, job=f"{event.get('key') or 'ledger'}  ")
