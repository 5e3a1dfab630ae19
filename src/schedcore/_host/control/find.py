"""Finding what people name: a job by id, key or unique prefix; a run by its number or run key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedcore._ledger import jobs, runs
from schedcore.domain.clock import parse_text
from schedcore.domain.errors import NotFound, Refused, nearest

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.ledger import Connection

__all__ = ["job_of", "locked_job", "locked_run", "run_of"]

_LONGEST = 200


def job_of(c: Connection, text: str) -> dict[str, Any]:
    """The job that ``text`` names. Raises :class:`NotFound` with the nearest key, or :class:`Refused` with the
    candidates of an ambiguous prefix."""
    if not isinstance(text, str) or not text or len(text) > _LONGEST or not text.isprintable():
        raise Refused("a job is named by its id, its key or the beginning of one", field="job", value=text)
    found = jobs.find(c, text)
    if len(found) == 1:
        return found[0]
    if found:
        keys = ", ".join(row["key"] for row in found[:10])
        raise Refused(
            f"{text!r} begins several jobs",
            code="ambiguous",
            field="job",
            value=text,
            hint=f"one of: {keys}",
        )
    raise NotFound(
        f"there is no job {text!r}",
        code="no_job",
        field="job",
        value=text,
        hint=nearest(text, jobs.similar(c)) or "see `schedcore list --all`",
    )


def locked_job(c: Connection, text: str) -> dict[str, Any]:
    """As :func:`job_of`, with the job locked until the transaction ends."""
    return jobs.lock(c, int(job_of(c, text)["id"]))


def run_of(c: Connection, run: int | str) -> dict[str, Any]:
    """The run with this number, or this run key. Raises :class:`NotFound`, :class:`Refused`."""
    found = runs.one(c, _number(c, run))
    if found is None:
        raise _no_run(run)
    return found


def locked_run(c: Connection, run: int | str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A run and its job, the job locked and the run read under that lock."""
    job = jobs.lock(c, int(run_of(c, run)["job_id"]))
    return run_of(c, run), job


def _number(c: Connection, run: int | str) -> int:
    if isinstance(run, int) and not isinstance(run, bool) and 0 < run < 2**63:
        return run
    if isinstance(run, str) and run.isascii() and run.isdigit() and 0 < len(run) < 19:
        return int(run)
    if isinstance(run, str) and "|" in run:
        job, _, slot = run.partition("|")
        try:
            found = runs.decided(c, int(job_of(c, job)["id"]), parse_text(slot))[0]
        except ValueError:
            found = None
        if found is None:
            raise _no_run(run)
        return int(found["id"])
    raise Refused(f"{run!r} is no run", code="bad_run", field="run", value=run, hint="a run has a number")


def _no_run(run: int | str) -> NotFound:
    hint = "see `schedcore runs list`"
    return NotFound(f"there is no run {run}", code="no_run", field="run", value=run, hint=hint)


def zone_of(control: Asker, trigger: str) -> str:
    """The zone of a stored trigger; UTC where it cannot be read."""
    try:
        read = control.engine.compiler.trigger(trigger)
    except Exception:  # an invalid definition is shown elsewhere
        return "UTC"
    return read.zone if read is not None else "UTC"
