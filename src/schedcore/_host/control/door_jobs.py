"""The half of the door that is about jobs; see :mod:`schedcore._host.control.door`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from schedcore._host.control.asker import Answer, Asker

if TYPE_CHECKING:
    from schedcore._host.progress import Progress

__all__ = ["JobDoor"]


class JobDoor(Asker):
    """What one actor may ask and order about jobs."""

    def add(
        self,
        order: Mapping[str, Any],
        *,
        reason: str | None = None,
        dry_run: bool = False,
        source: str | None = None,
        external_id: str | None = None,
    ) -> Answer:
        """Create a job: ``{id, key, state, definition, digest, trigger, zone, slots, warnings, dry_run}``.

        ``order`` is what :class:`schedcore.domain.job.JobOrder` reads. ``slots`` are the next three, as
        :meth:`next` gives them. ``warnings`` are texts (no live host offers the kind; nobody checks the work).
        Raises ``Refused`` (nothing stored) and ``Conflict`` ``key_taken``.
        """
        from schedcore._host.control import adding

        return adding.add(self, order, reason=reason, dry_run=dry_run, source=source, external_id=external_id)

    def jobs(
        self,
        *,
        states: Sequence[str] = (),
        kind: str | None = None,
        label: str | None = None,
        text: str | None = None,
        limit: int = 1000,
        all_states: bool = False,
    ) -> list[Answer]:
        """Jobs in the order of what comes next, retired ones only when asked for (``states``, ``all_states``).

        Each: ``{id, key, name, kind, state, state_reason, next_run_at, next_run_at_local, left, last, passed,
        trigger, zone, labels, streak, source}``; ``trigger`` is in words, ``left`` and ``passed`` are seconds
        until the next slot and since the last run, ``last`` is ``{run, scheduled_for, scheduled_for_local,
        state, outcome, reason, duration_ms}`` or ``None``.
        """
        from schedcore._host.control import jobs

        return jobs.listed(self, states, kind, label, text, limit, all_states=all_states)

    def show(self, job: str) -> Answer:
        """One job whole (L-05): every field, ``policies`` as ``{name: {value, origin}}``, ``last_runs`` (5),
        ``definitions`` (how many), ``slots`` (the next five). It fits :meth:`schema_of` ``("job")``."""
        from schedcore._host.control import jobs

        return jobs.show(self, job)

    def schema_of(self, what: str) -> Answer:
        """The published JSON Schema of an answer: ``job`` or ``run``."""
        from schedcore._host.control import schemas

        return schemas.schema_of(what)

    def edit(
        self, job: str, changes: Mapping[str, Any], *, reason: str | None = None, dry_run: bool = False
    ) -> Answer:
        """Change fields of a job: ``{id, key, definition, changed: {field: [old, new]}, slots, warnings}``.

        ``changes`` are fields as in an order; ``None`` takes a field away. Policies that are not named stay.
        An edit of the trigger first opens what is due, and recomputes from now on (P-27).
        """
        from schedcore._host.control import editing

        return editing.edit(self, job, changes, reason=reason, dry_run=dry_run)

    def pause(
        self, job: str, *, reason: str | None = None, mode: str = "drain", dry_run: bool = False
    ) -> Answer:
        """Pause a job (A-16): ``{id, key, state, mode, runs: [{run, now}]}``.

        ``drain`` lets what runs end, ``stop`` ends it ``cancelled``; ``now`` of each live run is ``running``,
        ``stopping`` or ``cancelled``.
        """
        from schedcore._host.control import moving

        return moving.pause(self, job, reason=reason, mode=mode, dry_run=dry_run)

    def resume(self, job: str, *, reason: str | None = None, dry_run: bool = False) -> Answer:
        """Resume a paused job: ``{id, key, state, passed, next_run_at, …}``; ``passed`` slots were counted in
        one row, none of them runs. Refused for an ``invalid`` job until it is edited (exit 4)."""
        from schedcore._host.control import moving

        return moving.resume(self, job, reason=reason, dry_run=dry_run)

    def remove(self, job: str, *, reason: str | None = None, dry_run: bool = False) -> Answer:
        """Retire a job (P-26): no new slot, history kept, the key free: ``{id, key, state, live}``."""
        from schedcore._host.control import moving

        return moving.remove(self, job, reason=reason, dry_run=dry_run)

    def run(
        self, job: str, *, reason: str | None = None, overlap: str | None = None, dry_run: bool = False
    ) -> Answer:
        """Open a manual run now (A-15): ``{run, job, key, run_key, scheduled_for, warnings}``.

        ``overlap="parallel"`` overrides the job's rule, and is recorded. Raises ``Conflict`` ``overlap``.
        """
        from schedcore._host.control import running

        return running.run(self, job, reason=reason, overlap=overlap, dry_run=dry_run)

    def next(
        self,
        job: str | None = None,
        *,
        expr: str | None = None,
        cron: str | None = None,
        every: str | None = None,
        at: str | None = None,
        calendar: str | None = None,
        on_closed: str | None = None,
        zone: str | None = None,
        after: str | None = None,
        n: int = 5,
    ) -> Answer:
        """The next slots of a job or of an expression: ``{"v": 1, "slots": [{utc, local, note}], trigger,
        zone}``, by the code that fires (P-12).

        Give one of ``job``, ``expr`` (a text whose kind shows), ``cron``, ``every``, ``at``, and with an
        expression the ``calendar`` that judges it. Slots that a calendar drops are none of ``slots``; those
        between them are told in ``dropped``, ``[{first, last, slots, reason, note}]``. ``after`` is an
        instant (default now). A job that is paused, pending or done has the slots it would have; ``note`` of
        the answer says so.
        """
        from schedcore._host.control import preview

        return preview.next_slots(
            self,
            job,
            expr=expr,
            cron=cron,
            every=every,
            at=at,
            calendar=calendar,
            on_closed=on_closed,
            zone=zone,
            after=after,
            n=n,
        )

    def down(self, job: str, down_from: str, up_at: str) -> Answer:
        """What would run and what be skipped if no host lived between two instants (P-12).

        ``{"v": 1, "runs": [{utc, local, late, starts_at}], "skipped": [{first, last, slots, reason}], next}``.
        """
        from schedcore._host.control import preview

        return preview.down(self, job, down_from, up_at)

    def why(self, job: str, instant: str) -> Answer:
        """What became of one instant (P-02): ``{"v": 1, job, key, instant, instant_local, verdict, reason,
        actor, definition, run, skipped, sentence}``.

        ``verdict`` is ``run``, ``skipped``, ``not_a_slot``, ``to_come``, ``undecided``, ``before_creation`` or
        ``archived``. ``instant`` is RFC 3339, or a wall clock of the job's zone.
        """
        from schedcore._host.control import why

        return why.why(self, job, instant)

    def history(self, job: str, *, limit: int = 200, after: int = 0) -> list[Answer]:
        """The events of a job, oldest first (P-16): ``{number, at, at_local, actor, actor_kind, action, reason,
        changes: {field: [old, new]}, digest_before, digest_after, run}``."""
        from schedcore._host.control import jobs

        return jobs.history(self, job, limit=limit, after=after)

    def backfill(
        self,
        job: str,
        from_: str,
        to: str,
        *,
        limit: int = 100,
        reason: str | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Answer:
        """Open the slots in [from, to] that have no run, oldest first, at most ``limit`` (1-10,000): ``{opened,
        slots: [utc…], answered, left, definition, note}``. They run today's definition; a skipped row that counts
        such a slot stays its decision (A-15)."""
        from schedcore._host.control import filling

        return filling.backfill(
            self, job, from_, to, limit=limit, reason=reason, dry_run=dry_run, progress=progress
        )

    def apply(
        self,
        declared: Mapping[str, Mapping[str, Any]],
        *,
        source: str,
        prune: bool = False,
        dry_run: bool = False,
        reason: str | None = None,
        progress: Progress | None = None,
    ) -> Answer:
        """Make the jobs of a source what it declares (F-16): ``{"v": 1, creates, edits, retires, revives,
        rejects, unchanged, would_retire, changes}``.

        ``declared`` maps external ids (the keys of a job file) to orders; an order without ``key`` takes its
        external id. Each list holds ``{key, external_id, …}``: edits have ``changed``, rejects ``errors`` (as
        ``as_dict``), ``unchanged`` is a number, ``changes`` says whether anything was (or would be) written.
        Only ``prune`` retires what is no longer declared, and nothing is ever deleted; without it those are in
        ``would_retire``. What is good is taken even where others are rejected. ``progress`` is told of jobs that
        were read, and of those that were written.
        """
        from schedcore._host.control import apply

        return apply.apply(
            self, declared, source=source, prune=prune, dry_run=dry_run, reason=reason, progress=progress
        )

    def export(
        self,
        *,
        jobs: bool = True,
        runs: bool = True,
        events: bool = True,
        progress: Progress | None = None,
    ) -> Iterator[Answer]:
        """The ledger as one dict a line, each with ``"v": 1`` and ``type``: ``ledger``, ``job``,
        ``definition``, ``run``, ``attempt``, ``skipped``, ``event``."""
        from schedcore._host.control import export

        return export.export(self, jobs=jobs, runs=runs, events=events, progress=progress)
