"""The half of the door that is about runs; see :mod:`schedcore._host.control.door`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedcore._host.control.asker import Answer, Asker

__all__ = ["RunDoor"]


class RunDoor(Asker):
    """What one actor may ask and order about runs."""

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
