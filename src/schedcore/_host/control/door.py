"""The door: one thin object whose methods are the names that command line, REST and MCP share.

Each method says what it answers; the deed is a function in the file of its subject. Nothing here decides.
What is about jobs and about runs stands in rooms of its own; engine and ledger are here.
Errors are those of :mod:`schedcore.domain.errors`, with the exit codes drawn there.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedcore._host.control.asker import Answer, Validate
from schedcore._host.control.door_jobs import JobDoor
from schedcore._host.control.door_runs import RunDoor
from schedcore._ledger.events import Actor

__all__ = ["Control", "Validate"]


class Control(JobDoor, RunDoor):
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
