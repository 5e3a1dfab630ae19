"""What ``doctor`` looks at in hosts, machine and ledger. Each check yields findings under its own name."""

from __future__ import annotations

import platform
import shutil
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from schedcore._host.control.hosts import PERIODS, host_line
from schedcore._host.kinds import stamp
from schedcore._ledger import holds, hosts, jobs, listeners
from schedcore.domain.clock import SECOND, text

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._ledger.ledger import Connection

__all__ = ["CHECKS"]

Findings = Iterator[dict[str, Any]]
_CLOCKS_APART = 5 * SECOND
_LEAST_FREE = 512 * 1024 * 1024


def dead_hosts(control: Asker, c: Connection, now: int, since: int) -> Findings:
    """Hosts that are marked live and do not beat, faults that live ones told of, and that nobody lives."""
    present = [host_line(row, now) for row in hosts.listed(c)]
    if not present:
        yield {"level": "bad", "what": "no host lives", "remedy": "start `schedcore serve`"}
    for host in present:
        if not host["alive"]:
            last = host["beat_at"] or "never"
            what = f"marked live, but its last beat was {last}, over {PERIODS} periods ago"
            yield {"level": "bad", "what": what, "remedy": "look at its machine", "host": host["name"]}
        for name, value in host["faults"].items():
            yield {"level": "note", "what": f"{name}: {value}", "host": host["name"]}


def open_holds(control: Asker, c: Connection, now: int, since: int) -> Findings:
    """Holds: nothing is claimed while one is open."""
    for hold in holds.opened(c):
        what = f"hold {hold['reason']} since {text(hold['since'])} by {hold['actor']}: {hold['text'] or ''}"
        yield {"level": "bad", "what": what, "remedy": "`schedcore halt off` when it is safe"}


def clocks(control: Asker, c: Connection, now: int, since: int) -> Findings:
    """This machine's clock beside the ledger's, and slots decided in what is still the future."""
    apart = abs(control.engine.clocks.wall() - now)
    if apart > _CLOCKS_APART:
        what = f"this machine's clock and the ledger's are {apart / SECOND:.1f} s apart"
        yield {"level": "bad", "what": what, "remedy": "set the clock, e.g. by NTP"}
    last = jobs.last_slots(c)
    if last is not None and last > now + _CLOCKS_APART:
        what = f"the clock is {(last - now) / SECOND:.0f} s behind the last slot decided, {text(last)}"
        yield {"level": "bad", "what": what, "remedy": "its jobs wait until the clock has caught up"}


def failing_listeners(control: Asker, c: Connection, now: int, since: int) -> Findings:
    """Listeners that raised and have not caught up."""
    for row in listeners.listed(c):
        if row["failures"]:
            what = (
                f"listener {row['listener']} raised {row['failures']} times; it is {row['lag']} events behind"
            )
            yield {"level": "bad", "what": f"{what}: {row['last_error']}"}


def plugins(control: Asker, c: Connection, now: int, since: int) -> Findings:
    """Plugins that were left out."""
    for plugin, what in control.faults:
        yield {"level": "bad", "what": f"left out: {what}", "plugin": plugin}


def versions(control: Asker, c: Connection, now: int, since: int) -> Findings:
    """Live hosts that differ, and hosts of this machine that are older than the installed files (T-22)."""
    present = [host for host in (host_line(row, now) for row in hosts.listed(c)) if host["alive"]]
    told: dict[str, dict[str, list[str]]] = {}
    for host in present:
        for part, version in _flat(host["versions"]):
            told.setdefault(part, {}).setdefault(str(version), []).append(host["name"])
    for part, by in sorted(told.items()):
        if len(by) > 1:
            which = "; ".join(f"{v} on {', '.join(names)}" for v, names in sorted(by.items()))
            theirs = part.startswith("calendars.")
            remedy = "declare one everywhere, and restart" if theirs else "upgrade the others"
            yield {"level": "bad", "what": f"hosts differ in {part}: {which}", "remedy": remedy}
    here, newest = platform.node(), stamp()
    for host in present:
        began_with = host["versions"].get("stamp")
        if host["machine"] == here and began_with is not None and began_with < newest:
            what = f"the installed files are of {text(newest)}, newer than the process"
            yield {"level": "note", "what": what, "remedy": "restart to take effect", "host": host["name"]}


def _flat(versions: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in versions.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        elif name != "stamp":  # when files were written, which no two machines share
            yield prefix + name, value


def ledger_build(control: Asker, c: Connection, now: int, since: int) -> Findings:
    """The database: a build with the WAL-reset fault, or settings that promise less than G5 asks."""
    dialect = control.ledger.dialect
    if dialect.wal_reset_fault():
        what = "this SQLite has the WAL-reset fault; checkpoints are made under the writers' lock"
        yield {"level": "note", "what": what, "remedy": "SQLite 3.51.3, 3.50.7 or 3.44.6 has it mended"}
    if not control.ledger.is_sqlite:
        for weaker in dialect.durability(c):
            yield {"level": "bad", "what": f"the server promises less than durable: {weaker}"}


def ledger_file(control: Asker, c: Connection, now: int, since: int) -> Findings:
    """Who may read the ledger's file, and the room on its disk and the state folder's."""
    folders = {control.engine.folder}
    if control.ledger.path is not None:
        folders.add(control.ledger.path.parent)
        mode = stat.S_IMODE(control.ledger.path.stat().st_mode)
        if mode & 0o077:
            remedy = f"chmod 600 {control.ledger.path}"
            yield {"level": "bad", "what": f"others may read the ledger (mode {mode:04o})", "remedy": remedy}
    for folder in sorted(folders):
        if folder.exists() and (free := shutil.disk_usage(folder).free) < _LEAST_FREE:
            what = f"only {free // (1024 * 1024)} MiB are free at {folder}"
            yield {"level": "bad", "what": what, "remedy": "make room; a full disk stops all claims"}


CHECKS = (
    dead_hosts,
    open_holds,
    clocks,
    failing_listeners,
    plugins,
    versions,
    ledger_build,
    ledger_file,
)
