"""``schedcore edit``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from schedcore._cli import answer, saying
from schedcore._cli.command import command as make
from schedcore._cli.commands.add import preview
from schedcore._cli.front import Front
from schedcore._cli.options import dry_run as dry_run_option
from schedcore._cli.options import job as job_argument
from schedcore._cli.options import reason as reason_option
from schedcore._cli.ordering import OrderCommand, fields_given, job_fields

if TYPE_CHECKING:
    from schedcore._host.control import Control

__all__ = ["command"]


@make("edit", cls=OrderCommand)
@job_argument
@click.argument("schedule", required=False)
@job_fields
@click.option("--unset", multiple=True, metavar="FIELD", help="Take a field away, so that its default holds.")
@click.option(
    "--editor", is_flag=True, help="Write the whole job as a file and open it in $VISUAL or $EDITOR."
)
@reason_option
@dry_run_option
def command(
    front: Front,
    job: str,
    schedule: str | None,
    unset: tuple[str, ...],
    editor: bool,
    reason: str | None,
    dry_run: bool,
    **options: Any,
) -> None:
    """Change a job.

    Fields that are not named stay as they are. A new trigger holds from now on: what was due before is
    opened first, and no past slot is judged anew.

    \b
    schedcore edit backup --cron "0 3 * * *"
    schedcore edit backup --set attempts=5 --unset late_limit
    schedcore edit backup --editor
    """
    changes = fields_given(click.get_current_context(), schedule, **options)
    for name in unset:
        if name in changes:
            raise click.UsageError(f"{name} is set and unset")
        changes[name] = None
    if editor == bool(changes):
        raise click.UsageError("say what to change: by options, or by --editor")
    with front.control(plugins=True) as control:
        if editor:
            edited = _edited(control, job)
            if edited is None:
                return
            changes = edited
        found = control.edit(job, changes, reason=reason, dry_run=True)
        if not front.json and not front.quiet:
            saying.changes(found["changed"])
            if "trigger" in found["changed"]:
                preview(front, found)
        if not dry_run and found["changed"]:
            found = control.edit(found["id"], changes, reason=reason)
        elif not dry_run:
            found = {**found, "dry_run": False}
    if not found["changed"]:
        saying.done(front, found, f"{found['key']} says so already; nothing was changed")
    else:
        is_so = "would be changed" if dry_run else f"is changed: definition {found['definition']}"
        saying.done(front, found, f"{found['key']} {is_so}")


def _edited(control: Control, job: str) -> dict[str, Any] | None:
    """What a person changed in an editor; asked again while it cannot be read or is refused."""
    from schedcore._cli.editing import changed, read, written
    from schedcore.domain.errors import Refused

    shown = control.show(job)
    before = text = written(shown)
    while True:
        after = click.edit(text, extension=".toml", require_save=False)
        if after is None or after.strip() == before.strip():
            answer.note("nothing was changed")
            return None
        try:
            changes = changed(read(before), read(after))
            control.edit(shown["id"], changes, dry_run=True)
        except Refused as error:
            answer.note(f"error: {error}")
            if not click.confirm("Edit it again?", default=True, err=True):
                raise
            text = after
        else:
            return changes
