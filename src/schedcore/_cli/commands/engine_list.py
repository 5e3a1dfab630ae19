"""``schedcore engine list``."""

from __future__ import annotations

import click

from schedcore._cli import answer, times
from schedcore._cli.command import command as make
from schedcore._cli.front import Front

__all__ = ["command"]


@make("list")
@click.option("--all", "everything", is_flag=True, help="Those that are gone, too.")
def command(front: Front, everything: bool) -> None:
    """List the hosts.

    A host is one process that runs jobs.
    """
    with front.control() as control:
        found = control.hosts(all_states=everything)
    if front.json:
        answer.emit({"hosts": found})
        return
    if not found:
        answer.note("no host lives; `schedcore serve` starts one")
        return
    rows = [
        (
            host["id"],
            host["name"],
            host["state"] if host["alive"] or host["state"] == "stopped" else f"{host['state']}, silent",
            None if host.get("age_s") is None else f"{times.span(int(host['age_s'] * 1_000_000))} ago",
            host.get("running"),
            " ".join(_names(host.get("kinds"))),
            " ".join(_names(host.get("tags"))),
            host.get("pid"),
            host.get("machine"),
        )
        for host in found
    ]
    titles = ("ID", "HOST", "STATE", "BEAT", "RUNNING", "KINDS", "TAGS", "PID", "MACHINE")
    answer.table(titles, rows)
    for host in found:
        for fault in host.get("faults") or ():
            answer.note(f"{host['name']}: {fault}")


def _names(kinds: object) -> list[str]:
    return [str(kind["kind"] if isinstance(kind, dict) else kind) for kind in kinds or ()]  # type: ignore[attr-defined]  # a list, by the schema of hosts
