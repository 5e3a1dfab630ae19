"""Coming in: a service waits for its ledger as long as it takes, and says so (fault_R10, G13).

What only a person can change (a ledger that is damaged, too new, or on the wrong path) still ends it at once.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from schedcore.domain.errors import LedgerError, SchedcoreError

if TYPE_CHECKING:
    from schedcore._cli.service import Signals, Systemd
    from schedcore._host.host import Host

__all__ = ["come_in"]

log = logging.getLogger("schedcore.serve")
_BUSY_S = 5.0
"""One try waits so long for another writer; then the signals are looked at."""
_PAUSE_S = 2.0
_BEAT_S = 15.0
"""So often it is said that there was no beat yet."""
_MORE_US = 60_000_000
"""How much more time the service manager is asked for with each word."""
_PASS = {"ledger_busy", "commit_unknown", "disk_full"}


def come_in(host: Host, signals: Signals, systemd: Systemd) -> bool:
    """Start the host and wait for its first beat; ``False`` when a signal came first, or its loops died."""
    while not signals.asked:
        try:
            host.start(wait_s=None, busy_s=_BUSY_S)
        except LedgerError as error:
            away = error.code == "ledger_unreachable" and not host.settings.ledger.startswith("sqlite")
            if error.code not in _PASS and not away:
                raise
            _say(systemd, f"{error}{_silent(host)}")
            signals.wait(_PAUSE_S)
        else:
            return _beaten(host, signals, systemd)
    return False


def _beaten(host: Host, signals: Signals, systemd: Systemd) -> bool:
    """Wait for the first beat, which wakes the signals."""
    while not host.beats():
        before = host.beats()
        if signals.wait(_BEAT_S) or host.broken:
            return False
        if before == host.beats():
            _say(systemd, host.fault or "no beat yet")
    return True


def _silent(host: Host) -> str:
    """Who may hold it: hosts that are marked live and do not beat. Reading stops at no writer."""
    try:
        found = [line for line in host.control().hosts() if not line["alive"] and line["age_s"] is not None]
    except SchedcoreError:
        return ""
    names = ", ".join(f"{line['name']} (pid {line['pid']}, for {line['age_s']:.0f} s)" for line in found)
    return f"; silent hosts: {names}" if names else ""


def _say(systemd: Systemd, why: str) -> None:
    log.warning("waiting for the ledger: %s", why)
    systemd.say(f"STATUS=waiting for the ledger: {why}", f"EXTEND_TIMEOUT_USEC={_MORE_US}")
