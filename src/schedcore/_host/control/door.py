"""The door: one thin object whose methods are the names that command line, REST and MCP share.

Each method says what it answers; the deed is a function in the file of its subject. Nothing here decides.
Errors are those of :mod:`schedcore.domain.errors`, with the exit codes drawn there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from schedcore._ledger.events import Actor
from schedcore.domain.words import language

if TYPE_CHECKING:
    from schedcore._engine.state import Engine
    from schedcore._host.progress import Progress
    from schedcore.domain.calendar import Calendars
    from schedcore.domain.trigger_parts import TriggerKinds
    from schedcore.spec.declarations import Executor

__all__ = ["Control", "Validate"]


Answer = dict[str, Any]
Validate = Callable[["Executor | Mapping[str, Any]", Mapping[str, Any]], Any]
"""``validate(executor or JSON Schema, payload)``: refuses a payload that does not fit, with its field path."""


def _validate(declared: Executor | Mapping[str, Any], payload: Mapping[str, Any]) -> Any:
    from schedcore._host.payloads import validate_payload

    return validate_payload(declared, payload)


class Control:
    """What one actor may ask and order on one ledger.

    ``engine`` is an engine that was not started: its ledger, toolbox and settings are what the same code
    that fires needs to preview, edit and explain. ``actor`` is who asks; :meth:`acting_as` makes the same
    control for somebody else. ``timezone`` is the zone of jobs that name none, ``every_floor`` the shortest
    interval in seconds, ``day_time`` when a date without a time fires. ``lang`` is the language of triggers in
    words and of notes at slots (``en``, ``fr``, ``zh``; ``Refused`` for another); all else is said in English.
    ``kinds`` gives the trigger kinds of plugins (default: the toolbox's), ``validate`` checks payloads (default:
    :func:`schedcore._host.payloads.validate_payload`).
    ``faults`` are what the loading of plugins found wrong: (plugin, what happened).

    JOB is a public id, a key, or a unique prefix of either; an unknown one is ``NotFound`` with the nearest
    key, an ambiguous one ``Refused`` with the candidates. Every dict that answers a read carries ``"v": 1``;
    instants are the 24 characters, and beside those of jobs and runs stands ``…_local`` in the job's zone.
    With ``dry_run=True`` an order answers what it would do (``"dry_run": true``) and writes nothing at all.
    """

    def __init__(
        self,
        engine: Engine,
        actor: Actor,
        *,
        timezone: str = "UTC",
        every_floor: int = 60,
        day_time: str = "09:00",
        kinds: Callable[[], TriggerKinds] | None = None,
        validate: Validate | None = None,
        faults: Sequence[tuple[str, str]] = (),
        sleep: Callable[[float], None] = time.sleep,
        lang: str = "en",
    ) -> None:
        self.engine = engine
        self.ledger = engine.ledger
        self.actor = actor
        self.timezone = timezone
        self.every_floor = every_floor
        self.day_time = day_time
        self.kinds = kinds or (lambda: engine.toolbox.triggers)
        self.validate = validate or _validate
        self.faults = tuple(faults)
        self.sleep = sleep
        self.lang = language(lang)

    def acting_as(self, actor: Actor) -> Control:
        """The same control for another actor."""
        return Control(
            self.engine,
            actor,
            timezone=self.timezone,
            every_floor=self.every_floor,
            day_time=self.day_time,
            kinds=self.kinds,
            validate=self.validate,
            faults=self.faults,
            sleep=self.sleep,
            lang=self.lang,
        )

    def calendars(self) -> Calendars:
        """What an order of this actor may name: every calendar of this process, and dates alone if it is a
        source, which knows days and no hours. Files are written by people, and read as people's orders are."""
        from schedcore.domain.calendar import Calendars

        dated = self.actor.kind == "source" and self.actor.name != "file"
        return Calendars(self.engine.toolbox.calendars, self.day_time, dated)

    # -- jobs ---------------------------------------------------------------------------------------

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

    # -- runs ---------------------------------------------------------------------------------------

    def runs(
        self,
        *,
        job: str | None = None,
        states: Sequence[str] = (),
        triggers: Sequence[str] = (),
        since: str | None = None,
        until: str | None = None,
        label: str | None = None,
        after: int | None = None,
        limit: int = 50,
    ) -> list[Answer]:
        """Runs, newest first: ``{id, job, key, kind, scheduled_for, …_local, trigger, state, outcome, reason,
        started_at, finished_at, duration_ms, late, attempts, host}``.

        ``since`` and ``until`` are instants, or durations back from now (``24h``). ``after`` is a run id: only
        newer ones, for a follower.
        """
        from schedcore._host.control import runs

        return runs.listed(self, job, states, triggers, since, until, label, after, limit)

    def run_show(self, run: int | str) -> Answer:
        """One run whole (L-08). It fits :meth:`schema_of` ``("run")``."""
        from schedcore._host.control import runs

        return runs.show(self, run)

    def attempts(self, run: int | str) -> list[Answer]:
        """The attempts of a run, in order (L-21)."""
        from schedcore._host.control import runs

        return runs.attempts(self, run)

    def logs(self, run: int | str, *, offset: int = 0) -> Answer:
        """The output of a run (L-16): ``{"v": 1, run, state, final, where, text, path, offset, host, machine,
        stdout_tail, stderr_tail, note}``.

        ``where`` is ``file`` (``text`` is what the file has from byte ``offset`` on, and the answer's
        ``offset`` the one to ask for next), ``tail`` (the file is on ``host``, named in ``note``) or ``none``.
        """
        from schedcore._host.control import logs

        return logs.logs(self, run, offset=offset)

    def follow_logs(self, run: int | str, *, every: float = 0.5) -> Iterator[Answer]:
        """:meth:`logs` again and again until the run is final; each answer has what was new."""
        from schedcore._host.control import logs

        return logs.follow(self, run, every=every)

    def trace(self, run: int | str) -> Answer:
        """What led to what: the run, its attempts, its events, the run it retries or comes from, and those
        that came of it: ``{"v": 1, run, attempts, events, retry_of, parent, retries, children, covers}``."""
        from schedcore._host.control import runs

        return runs.trace(self, run)

    def wait(self, run: int | str, timeout: float | None = None, *, every: float = 0.2) -> Answer:
        """Wait until a run is final, and answer as :meth:`run_show`; ``"final": false`` when ``timeout``
        seconds went by before that (exit 124)."""
        from schedcore._host.control import runs

        return runs.wait(self, run, timeout, every=every)

    def cancel(self, run: int | str, reason: str | None, *, dry_run: bool = False) -> Answer:
        """Stop a run (F-11): ``{run, key, now: "cancelled" | "stopping"}``. A reason is required."""
        from schedcore._host.control import running

        return running.cancel(self, run, reason, dry_run=dry_run)

    def retry(self, run: int | str, reason: str | None = None, *, dry_run: bool = False) -> Answer:
        """Open a manual run linked to a final one, under its delivery key (A-15); answers as :meth:`run`."""
        from schedcore._host.control import running

        return running.retry(self, run, reason, dry_run=dry_run)

    def release(self, run: int | str, reason: str | None, *, dry_run: bool = False) -> Answer:
        """Take the lease of a run from a host believed dead; it ends ``interrupted`` (F-11)."""
        from schedcore._host.control import running

        return running.release(self, run, reason, dry_run=dry_run)

    # -- engine -------------------------------------------------------------------------------------

    def status(self, check: bool = False) -> Answer:
        """The state of ledger and hosts: ``{"v": 1, now, ledger, hosts, holds, jobs, runs, next, overdue,
        listeners, groups, lateness, clock_behind_s, faults}``; with ``check`` also ``ok`` and ``problems``
        (texts), F-10's verdict."""
        from schedcore._host.control import status

        return status.status(self, check=check)

    def doctor(self, since: str = "24h") -> list[Answer]:
        """What is wrong or worth a look (R-11): ``{level: "bad" | "note", check, what, remedy, job, run, host,
        plugin}``; empty when all is well. Changes nothing."""
        from schedcore._host.control import doctor

        return doctor.doctor(self, since)

    def halt(self, on: bool, reason: str | None, *, dry_run: bool = False) -> Answer:
        """Open or lift the hold ``halt``, which stops all claims (A-17): ``{halted, changed}``. Also lifts a
        ``clock`` hold, since only an operator may."""
        from schedcore._host.control import hosts

        return hosts.halt(self, on, reason, dry_run=dry_run)

    def hosts(self, *, all_states: bool = False) -> list[Answer]:
        """Hosts, newest first: ``{id, name, machine, pid, state, alive, beat_at, age_s, beats, kinds, tags,
        environment, versions, running, faults}``."""
        from schedcore._host.control import hosts

        return hosts.listed(self, all_states=all_states)

    def drain(self, host: str | int, *, reason: str | None = None, dry_run: bool = False) -> Answer:
        """Order a host to claim nothing more: ``{hosts: [{id, name}]}``; by id or name."""
        from schedcore._host.control import hosts

        return hosts.drain(self, host, reason=reason, dry_run=dry_run)

    # -- ledger -------------------------------------------------------------------------------------

    def upgrade(self, *, dry_run: bool = False) -> Answer:
        """Bring the ledger to this code's schema: ``{before, after, sql}``; ``sql`` with ``dry_run`` only."""
        from schedcore._host.control import db

        return db.upgrade(self, dry_run=dry_run)

    def check(self) -> Answer:
        """Is the ledger whole? ``{"v": 1, ok, problems: [{check, what}]}``: the store's own check, what refers
        to what, the schema."""
        from schedcore._host.control import db

        return db.check(self)

    def fsck(self, since: str | None = None) -> Answer:
        """Is what the ledger says true? ``{"v": 1, ledger, ok, since, clock, found, findings: [{rule, job, slot,
        run, what, remedy}], rules: [{rule, says, checked, of, findings, not_checked: [{why, count}]}]}``.
        ``since`` is an instant or so long ago."""
        from schedcore._host.control import db

        return db.fsck(self, since)

    def stats(self) -> Answer:
        """Rows of each table, sizes, WAL: ``{"v": 1, tables: {name: rows}, bytes, wal_bytes, wal_frames}``."""
        from schedcore._host.control import db

        return db.stats(self)

    def events(self, *, after: int | None = None, limit: int = 200) -> list[Answer]:
        """Events of all jobs in the order they were written, as :meth:`history` with ``id`` and ``key``.

        Without ``after`` the newest ones; with it (an event's ``id``) those that follow.
        """
        from schedcore._host.control import db

        return db.events_of(self, after=after, limit=limit)

    def follow_events(self, *, after: int | None = None, every: float = 0.5) -> Iterator[Answer]:
        """:meth:`events` for ever, one by one."""
        from schedcore._host.control import db

        return db.follow(self, after=after, every=every)
