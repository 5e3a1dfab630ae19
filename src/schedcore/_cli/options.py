"""Options and arguments that several commands share, each written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from schedcore._cli.job_argument import complete_job

__all__ = ["dry_run", "job", "listing", "reason", "run", "run_order"]

F = TypeVar("F", bound=Callable[..., Any])

job = click.argument("job", shell_complete=complete_job)
run = click.argument("run")
dry_run = click.option("--dry-run", is_flag=True, help="Say what would be done; write nothing.")
reason = click.option("--reason", metavar="TEXT", help="Why; it is kept with the order.")


def run_order(function: F) -> F:
    """What an order about one run takes: which, why, and whether only to say what would be done."""
    return run(reason(dry_run(function)))


def listing(limit: int, *states: str) -> Callable[[F], F]:
    """What every list takes: ``--since --until --limit --state --tag``."""

    def add(function: F) -> F:
        for option in reversed(
            (
                click.option("--since", metavar="WHEN", help="From an instant on, or how long ago: 24h."),
                click.option("--until", metavar="WHEN", help="Before an instant, or how long ago."),
                click.option(
                    "--limit", type=click.IntRange(1, 100_000), default=limit, show_default=True, metavar="N"
                ),
                click.option(
                    "--state", "states", multiple=True, metavar="STATE", help=f"One of {', '.join(states)}."
                ),
                click.option("--tag", metavar="LABEL", help="Of jobs with this label."),
            )
        ):
            function = option(function)
        return function

    return add
