"""What the rooms of one engine share: the ledger, the tools, the clocks, and who runs what right now.

Nothing here is truth. The running runs are the ledger's; this is the hand that holds them.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from schedcore._engine.guard import Guard
from schedcore._engine.loops import Loops
from schedcore._engine.pace import Pace
from schedcore._engine.stopping import StopOrder
from schedcore._engine.toolbox import Compiled, Compiler, Needs, Toolbox
from schedcore.domain.clock import SECOND
from schedcore.domain.outcome import Outcome
from schedcore.domain.policy import Policies

if TYPE_CHECKING:
    from schedcore._ledger.ledger import Ledger

__all__ = ["Claimed", "Clocks", "Counters", "Engine", "EngineSettings", "Finish"]

log = logging.getLogger("schedcore.engine")


class Clocks(Protocol):
    """The machine's clocks as a port; tests bring a clock that stands still."""

    def wall(self) -> int:
        """Microseconds since 1970."""
        ...

    def boot(self) -> int:
        """Microseconds of the boot-time clock."""
        ...


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Seconds, unless said otherwise. Ranges are checked where settings are read."""

    workers: int = 4
    beat: float = 60.0
    lease: float = 60.0
    batch: int = 500
    claim_ahead: int = 500
    catch_up_apart: float = 5.0
    late_warning: float = 300.0
    drain: float = 30.0
    kill_grace: float = 10.0
    tags: frozenset[str] = frozenset()
    environment: str | None = None
    output_max: int = 64 * 1024 * 1024
    groups: tuple[tuple[str, int, int | None, int | None], ...] = ()
    policies: Policies = field(default_factory=Policies)


class Claimed:
    """One attempt in this host's hands: claimed, perhaps begun, not settled."""

    __slots__ = (
        "attempt", "began", "claimed_at", "delivery_key", "ended", "fence", "job", "late", "origin", "parent",
        "probe", "run_id", "slot", "start_at", "stop", "stopped_at", "thread", "trigger",
    )  # fmt: skip

    def __init__(
        self, job: Compiled, run_id: int, slot: int, attempt: int, fence: int, start_at: int
    ) -> None:
        self.job = job
        self.run_id = run_id
        self.slot = slot
        self.attempt = attempt
        self.fence = fence
        self.start_at = start_at
        self.trigger = 0
        self.late = 0
        self.delivery_key: str | None = None
        self.origin: str | None = None
        self.parent: int | None = None
        self.probe = 0
        self.began: int | None = None
        self.claimed_at = 0
        self.ended = False
        self.thread = 0
        self.stop = StopOrder()
        self.stopped_at: int | None = None


class Finish:
    """How an attempt ended, on its way back to the ledger."""

    __slots__ = (
        "assert_exit",
        "assert_ms",
        "assert_output",
        "claimed",
        "decided",
        "finished_at",
        "outcome",
        "output_ref",
        "started_at",
        "stderr_tail",
        "stdout_tail",
    )  # fmt: skip

    def __init__(self, claimed: Claimed, outcome: Outcome, started_at: int, finished_at: int) -> None:
        self.claimed = claimed
        self.outcome = outcome
        self.started_at = started_at
        self.finished_at = finished_at
        self.stdout_tail: str | None = None
        self.stderr_tail: str | None = None
        self.output_ref: str | None = None
        self.decided: Any = None
        self.assert_exit: int | None = None
        self.assert_ms: int | None = None
        self.assert_output: str | None = None


@dataclass(slots=True)
class Counters:
    """What ``status`` tells of this host, since its start."""

    beats: int = 0
    opened: int = 0
    skipped: int = 0
    claimed: int = 0
    settled: int = 0
    stale: int = 0
    lost_leases: int = 0
    commit_unknown: int = 0
    ledger_faults: int = 0
    last_fault: str | None = None

    def note(self, fault: str) -> None:
        """Something went wrong, in the ledger or in a loop of this host."""
        self.last_fault = fault


class Engine:
    """The shared state of one host's engine."""

    def __init__(
        self,
        ledger: Ledger,
        toolbox: Toolbox,
        settings: EngineSettings,
        clocks: Clocks,
        folder: Path,
        name: str,
        now: Callable[[], int],
    ) -> None:
        self.ledger = ledger
        self.toolbox = toolbox
        self.settings = settings
        self.clocks = clocks
        self.folder = folder
        self.name = name
        self.instant = now
        self.sample: Callable[[int], object] = lambda now: None
        self.compiler = Compiler(toolbox, settings.policies)
        self.counters = Counters()
        self.loops = Loops(clocks.boot, self.counters.note)
        self.inbox: SimpleQueue[Finish | None] = SimpleQueue()
        self.running: dict[int, Claimed] = {}
        self.leaving = 0
        self.served: dict[int, int] = {}
        self.host_id = 0
        self.write_number = 0
        self.guard = Guard()
        self.pace = Pace(settings.catch_up_apart)
        self.draining = False
        self.unknown: Any = None
        self.weaker: tuple[str, ...] = ()
        self.holds: tuple[str, ...] = ()
        self.contact_since: int | None = None
        self.renewed_at = clocks.boot()
        self.took: dict[str, float] = {}
        self.hand_over: Callable[[Claimed], None] = lambda item: None
        self.give_up: Callable[[int], None] = lambda thread: None
        self.contended = False
        self.places: dict[str, int] = {}
        self.lane_cache: dict[int, Needs] = {}
        self.gates: Any = None
        self.to_ask: list[tuple[Compiled, list[Any]]] = []
        self.started = threading.Event()

    @property
    def lease_us(self) -> int:
        """The length of a lease, in microseconds of lease time."""
        return int(self.settings.lease * SECOND)

    def fits(self, needs: Needs) -> bool:
        """Can this host take runs of a lane?"""
        return (
            needs.kind in self.toolbox.executors
            and self.settings.tags.issuperset(needs.tags)
            and (not needs.environments or self.settings.environment in needs.environments)
        )

    def ahead(self, kind: str) -> int:
        """How many runs of this kind the pool should finish during one commit (L-10).

        Nothing for kinds measured to take longer than 20 ms, nothing before one was measured.
        """
        took = self.took.get(kind)
        if took is None or took > 0.020 or not self.settings.claim_ahead:
            return 0
        return min(self.settings.claim_ahead, int(self.settings.workers * 0.020 / max(took, 1e-6)))

    def slow(self, kind: str) -> bool:
        """Is this kind known to be slower than what is claimed ahead?"""
        return kind in self.took and not self.ahead(kind)

    def room(self, kind: str) -> int:
        """How many more runs of this kind may be claimed now; those this turn settles have left."""
        return max(0, self.settings.workers + self.ahead(kind) - len(self.running) + self.leaving)

    def measured(self, kind: str, seconds: float) -> None:
        """One attempt of this kind took so long; slow ones weigh at once, quick ones little by little."""
        before = self.took.get(kind)
        self.took[kind] = seconds if before is None or seconds > before else before * 0.9 + seconds * 0.1
