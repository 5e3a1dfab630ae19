"""``schedcore serve``: the service (R-09, T-20)."""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

import click

from schedcore._cli import answer
from schedcore._cli.coming_in import come_in
from schedcore._cli.command import command as make
from schedcore._cli.ending import BAD, INTERRUPTED
from schedcore._cli.front import Front
from schedcore._cli.onlooking import Onlooker, tell_summary
from schedcore._cli.service import Signals, Systemd, close_memory
from schedcore.domain.clock import SECOND
from schedcore.domain.duration import parse_duration
from schedcore.domain.errors import LedgerError

if TYPE_CHECKING:
    from schedcore._host.control import Control
    from schedcore._host.file_source import FileSource
    from schedcore._host.host import Host
    from schedcore._host.settings import Settings

__all__ = ["command"]

log = logging.getLogger("schedcore.serve")
_LOOK_S = 2.0
_WAIT_S = 0.5
_SWITCH_S = 0.000_5
"""How long one Python thread may keep the others waiting; half a millisecond lets a due slot through."""


@make("serve")
@click.option("--for", "for_", metavar="DURATION", help="Stop by itself after so long, such as 30s.")
@click.option("--no-files", is_flag=True, help="Leave the jobs of the settings and job files alone.")
def command(front: Front, for_: str | None, no_files: bool) -> int:
    """Run the engine until stopped.

    Jobs declared in the settings and job files are taken at the start and whenever those files change. Ctrl-C
    or TERM stops: nothing new begins, what runs may end within the setting `drain`; a second one stops at once.
    A ledger that another process holds, or a server that does not answer, is waited for. On a terminal every run
    is shown; elsewhere, and with --json, one object a line.
    """
    seconds = None if for_ is None else parse_duration(for_, "--for", minimum=1)
    settings = front.settings()
    close_memory()
    sys.setswitchinterval(_SWITCH_S)
    systemd = Systemd(os.environ, os.getpid())
    if systemd.watchdog_s is not None:
        settings = replace(settings, beat=min(settings.beat, max(1.0, systemd.watchdog_s / 2)))
    return _Service(front, settings, systemd, no_files=no_files).run(seconds)


class _Service:
    """One host as a service, from the first log line to the summary."""

    def __init__(self, front: Front, settings: Settings, systemd: Systemd, *, no_files: bool) -> None:
        from schedcore._host.host import Host
        from schedcore._host.now import now

        self._front = front
        self._settings = settings
        self._systemd = systemd
        self._no_files = no_files
        self._now = now
        self._signals = Signals()
        self._host: Host = Host(settings=settings, env=os.environ)
        self._onlooker = Onlooker(front, front.zone(), now, self._signals.wake)
        self._handler, self._repeats = _logging(front, settings, self._host)
        self._changes: SimpleQueue[dict[str, Any]] = SimpleQueue()

    def run(self, seconds: int | None) -> int:
        """Start, serve, drain, sum up; answers the exit code."""
        began = self._now()
        host = self._host
        host.on(self._onlooker.look)
        host.on_beat(self._beaten)
        with self._signals.watched() as signals:
            try:
                if there := come_in(host, signals, self._systemd):
                    self._serve(None if seconds is None else began + seconds * SECOND)
                broken = self._broken()
            finally:
                self._systemd.say("STOPPING=1", "STATUS=draining")
                self._stop()
            self._onlooker.drain(None)
            if there:
                self._sum_up(began)
        return INTERRUPTED if signals.hurry.is_set() else BAD if broken else 0

    def _serve(self, until: int | None) -> None:
        from schedcore._host.callers import caller, source
        from schedcore._host.file_source import FileSource
        from schedcore._host.settings import load

        front, signals = self._front, self._signals
        control = self._host.control(caller(os.environ))

        def again() -> Settings:
            return load(front.config_path(), os.environ, front.overrides())

        files = FileSource(self._settings, again, control.acting_as(source("file")))
        if not self._no_files:
            self._take_files(files)
        if not front.json and not front.quiet:
            answer.line(f"serving {control.ledger} as {self._settings.name}; Ctrl-C stops")
        self._onlooker.plan_all(control)
        looked = self._now()
        while not signals.wait(_WAIT_S if until is None else min(_WAIT_S, (until - self._now()) / SECOND)):
            self._onlooker.drain(control)
            at = self._now()
            if self._host.broken or (until is not None and at >= until):
                return
            if not 0 <= at - looked < _LOOK_S * SECOND:
                looked = at
                self._repeats.flush(at, self._handler)
            self._tell_changes(control)

    def _take_files(self, files: FileSource) -> None:
        """Take them now; then a loop of the host's own looks at them, so that what fails there stays there (T-19)."""

        def look() -> None:
            if (found := files.look()) is not None:
                self._changes.put(found)
                self._signals.wake()

        try:
            files.begin()
        except LedgerError as error:
            log.warning("the job files are taken when the ledger can take them: %s", error)
        self._host.keep("files", look, _LOOK_S)

    def _tell_changes(self, control: Control) -> None:
        try:
            while True:
                self._told_change(self._changes.get_nowait())
                self._onlooker.plan_all(control)
        except Empty:
            pass

    def _broken(self) -> tuple[str, ...]:
        """What a service does whose loops are given up: it ends, and whoever watches it starts another (T-19)."""
        if broken := self._host.broken:
            log.error("this host stops, because it cannot go on: given up: %s", ", ".join(broken))
            self._systemd.say(f"STATUS=given up: {', '.join(broken)}")
        return broken

    def _stop(self) -> None:
        if self._signals.asked and not self._front.quiet and not self._front.json and self._host.busy():
            answer.note(f"stopping; {self._host.busy()} runs may end first, Ctrl-C again stops them")
        self._host.stop(hurry=self._signals.hurry)
        self._repeats.flush(self._now() + 3_600 * SECOND, self._handler)

    def _sum_up(self, began: int) -> None:
        from schedcore._host.summing import summary

        with self._front.control() as control:
            tell_summary(self._front, summary(control, began))

    def _told_change(self, found: dict[str, Any]) -> None:
        if self._front.quiet or not found["changes"]:
            return
        counts = {
            name: [job["key"] for job in found.get(name) or ()]
            for name in ("creates", "edits", "revives", "retires")
        }
        if self._front.json:
            answer.emit({"what": "files", **counts})
        else:
            said = "; ".join(f"{name}: {', '.join(keys)}" for name, keys in counts.items() if keys)
            answer.line(f"the files have changed: {said}")

    def _beaten(self) -> None:
        self._signals.wake()
        busy = self._host.busy()
        self._systemd.beaten(f"{busy} running" if busy else "waiting for the next slot")


def _logging(front: Front, settings: Settings, host: Host) -> tuple[Any, Any]:
    from schedcore._host import logs

    level = "debug" if front.verbose else "warning" if front.quiet else settings.log_level
    form = settings.log_format
    if form == "auto":
        form = "text" if sys.stderr.isatty() and not front.json else "json"
    syslog = bool(os.environ.get("JOURNAL_STREAM"))
    return logs.configure(sys.stderr, settings.name, level, form=form, masker=host.masker, syslog=syslog)
