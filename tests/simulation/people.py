"""People (and their programs) who order at random, and are refused at random."""

from __future__ import annotations

from random import Random
from typing import Any

from schedcore.domain.clock import text
from schedcore.domain.errors import SchedcoreError
from schedcore.testing import HostDied, StandingHost

__all__ = ["People"]

_TRIGGERS = (
    {"cron": "* * * * *"},
    {"cron": "*/10 * * * *"},
    {"every": "15m"},
    {"cron": "*/5 * * * *"},
    {"cron": "30 * * * *", "zone": "Europe/Paris", "jitter": 40},
    {"every": "3m"},
    {"every": "7m", "count": 20},
    {"cron": "*/4 * * * *", "jitter": 20},
)


class People:
    """They know the keys of what they have made."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.keys: list[str] = []
        self.orders: dict[str, int] = {}

    def make(self, host: StandingHost) -> None:
        """A new job."""
        r = self.random
        key = f"job-{len(self.keys)}"
        order: dict[str, Any] = {"key": key, "kind": r.choice(["noop", "again"]), **r.choice(_TRIGGERS)}
        order |= {
            "overlap": r.choice(["skip", "queue_one", "parallel", "replace"]),
            "timeout": r.choice(["1m", "5m"]),
        }
        order |= {"catch_up": r.choice(["run_once", "skip", "all"]), "attempts": r.choice([1, 1, 2, 3])}
        if order["attempts"] > 1:
            order["retry_delay"] = "10s"
        if r.random() < 0.3:
            order["groups"] = ["few"]
        if r.random() < 0.2:
            order["late_limit"] = "3m"
        if r.random() < 0.3:
            order |= {"breaker": 2, "breaker_cooldown": "2m"}
        if order["kind"] == "again":
            order["on_lost"] = "retry"
        if r.random() < 0.1:
            order = {"key": key, "kind": "noop", "in": "4m"}
        if self._try(host, "add", lambda: host.control.add(order)):
            self.keys.append(key)

    def act(self, host: StandingHost) -> None:
        """One order of any kind."""
        r, control = self.random, host.control
        if not self.keys or r.random() < 0.1:
            self.make(host)
            return
        key = r.choice(self.keys)
        what = r.choice(
            ["pause", "resume", "resume", "run", "edit", "often", "cancel", "remove", "backfill", "halt"]
        )
        if what == "remove" and r.random() < 0.7:
            return
        deeds: dict[str, Any] = {
            "pause": lambda: control.pause(key, reason="a person"),
            "resume": lambda: control.resume(key, reason="a person"),
            "run": lambda: control.run(key),
            "edit": lambda: control.edit(key, {"payload": {"n": r.randrange(9)}}, reason="a person"),
            "often": lambda: control.edit(key, dict(r.choice(_TRIGGERS)), reason="a person"),
            "cancel": lambda: self._cancel(host),
            "remove": lambda: control.remove(key, reason="a person"),
            "backfill": lambda: self._backfill(host, key),
            "halt": lambda: (control.halt(True, "a person"), control.halt(False, "a person")),
        }
        self._try(host, what, deeds[what])

    def _cancel(self, host: StandingHost) -> None:
        live = host.control.runs(states=["queued", "running"], limit=20)
        if live:
            host.control.cancel(self.random.choice(live)["id"], "a person")

    def _backfill(self, host: StandingHost, key: str) -> None:
        now = host.clock.wall()
        host.control.backfill(key, text(now - 600_000_000), text(now - 60_000_000))

    def _try(self, host: StandingHost, what: str, deed: Any) -> bool:
        try:
            deed()
        except SchedcoreError:  # refused, or the ledger is away: nobody promised anything
            return False
        except HostDied:
            host.die()
            return False
        self.orders[what] = self.orders.get(what, 0) + 1
        return True
