"""One turn of the engine: settle what has ended, open what is due, claim what may start.

On SQLite all of it is one transaction. Work starts only after its commit is known: a commit that raised is
read back by the host's own write number before anything else is done (G5).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schedcore._engine import claiming, opening, settling
from schedcore._engine.state import Claimed, Engine, Finish
from schedcore._engine.toolbox import Needs
from schedcore._ledger import gating, groups, hosts, jobs
from schedcore._ledger import runs as rows
from schedcore._ledger.ledger import CommitUnknown

if TYPE_CHECKING:
    from schedcore._ledger.ledger import Connection

__all__ = ["Turn", "Unknown", "peek", "read_back", "recall", "turn"]

log = logging.getLogger("schedcore.beat")
_LEAVE_DUE_US = 1_000_000
_AGAIN_US = 50_000


@dataclass(slots=True)
class Turn:
    """What one turn did, and the instant at which something is due next (microseconds), if known."""

    now: int = 0
    claimed: list[Claimed] = field(default_factory=list)
    next_at: int | None = None
    more: bool = False
    leapt: bool = False
    opened: bool = False


@dataclass(frozen=True, slots=True)
class Unknown:
    """A turn whose commit raised and could not be read back yet."""

    number: int
    turn: Turn
    finishes: tuple[Finish, ...]

    @property
    def size(self) -> tuple[int, int]:
        """How many claims and how many ends it holds."""
        return len(self.turn.claimed), len(self.finishes)


def turn(e: Engine, c: Connection, finishes: Sequence[Finish], *, claims: bool) -> Turn:
    """One transaction. Raises what the ledger raises; :class:`settling.FenceLost` means: settle one by one."""
    done = Turn()
    e.write_number += 1
    number = e.write_number
    e.leaving = len(finishes)
    try:
        with e.ledger.write(c):
            done.now, lease_now = e.ledger.times.both(c)
            e.sample(done.now)
            if finishes:
                settling.settle_batch(e, c, finishes, done.now)
            done.leapt = e.guard.leapt(done.now, e.clocks.boot())
            if claims and not done.leapt:
                _open_and_claim(e, c, done, lease_now + e.lease_us)
            hosts.wrote(c, e.host_id, number)
    except CommitUnknown as error:
        e.counters.commit_unknown += 1
        log.warning("%s; reading back", error)
        e.unknown = Unknown(number, done, tuple(finishes))
        if read_back(e) is None:
            raise
    finally:
        e.leaving = 0
    _take_over(e, done)
    return done


def _take_over(e: Engine, done: Turn) -> None:
    for item in done.claimed:
        item.claimed_at = done.now
        e.running[item.run_id] = item
    e.counters.claimed += len(done.claimed)


def read_back(e: Engine) -> Unknown | None:
    """Ask the ledger whether the turn whose commit is unknown is there; answers it if it is, ``None`` if not.

    Raises what the ledger raises: it is still unknown then, and asked again before anything else (G5).
    """
    unknown = e.unknown
    with e.ledger.write() as c:
        there = bool(hosts.wrote(c, e.host_id) >= unknown.number)
    e.unknown = None
    return unknown if there else None


def recall(e: Engine) -> Unknown | None:
    """:func:`read_back` for a turn that has raised long ago; what it had claimed is this host's to do."""
    unknown = read_back(e)
    if unknown is not None:
        log.warning("a commit that raised is in the ledger: %d claims, %d ends", *unknown.size)
        _take_over(e, unknown.turn)
    return unknown


def peek(e: Engine, c: Connection) -> tuple[bool, int | None]:
    """Is there anything to open or claim now, and if not, when? A read that stops no writer."""
    with e.ledger.read(c) as view:
        now = e.ledger.times.now(view)
        due, queued = e.ledger.hot.all_heads(view)
        asks = gating.nearest_ask(view) if e.toolbox.gates else None
    times = [head for _, head in due] + [t for _, present, late in queued for t in (present, late)] + [asks]
    known = [t for t in times if t is not None]
    if not known:
        return False, None
    return min(known) <= now, min(known)


def _open_and_claim(e: Engine, c: Connection, done: Turn, lease_end: int) -> None:
    now = done.now
    hot = e.ledger.hot
    if e.toolbox.gates:
        gating.ask_again(c, now)
    due, queued = hot.all_heads(c)
    lanes = _lanes(e, c, [head[0] for head in (*due, *queued)])
    wanted = {name for needs in lanes.values() if e.fits(needs) for name in needs.groups}
    e.places = groups.free(c, sorted(wanted), now)  # all of them at once, locked in name order
    claimed = done.claimed
    for lane, present, _ in queued:
        needs = lanes[lane]
        if present is not None and present <= now and e.fits(needs):
            room = e.room(needs.kind) - len(claimed)
            got, seen = claiming.claim_present(e, c, lane, needs, now, lease_end, room)
            _served(e, done, lane, got)
            done.more |= room > len(got) > 0 and seen >= min(room, e.settings.batch)
    opened_queued = False
    for lane, head in due:
        if head > now:
            continue
        needs = lanes[lane]
        room = max(0, e.room(needs.kind) - len(claimed))
        if not room and e.ahead(needs.kind) and e.clocks.boot() - e.served.get(lane, 0) < _LEAVE_DUE_US:
            continue  # quick work: its place is free within milliseconds, and its end wakes the loop
        offered = e.fits(needs) or needs.kind in e.toolbox.executors or _offered(e, c, needs.kind, now)
        got, seen = opening.open_lane(e, c, lane, needs, now, lease_end, room, offered=offered)
        _served(e, done, lane, got)
        opened_queued |= seen > len(got)
        done.opened |= seen > 0
        full = 0 < room <= seen and e.slow(
            needs.kind
        )  # what else is due is decided now, and waits in the queue
        done.more |= seen >= e.settings.batch or (seen >= room > len(got)) or full
    if opened_queued:
        queued = _claim_opened(e, c, done, lanes, lease_end)
    _claim_late(e, c, done, queued, lanes, lease_end)
    soon = all(e.ahead(kind) for kind in {i.job.kind for i in claimed})  # their ends wake the loop in no time
    if e.contended:  # the other host lets go within milliseconds, and tells nobody
        e.contended = False
        done.next_at = now + _AGAIN_US
        return
    done.next_at = _nearest(e, c, now, due, queued, changed=opened_queued or bool(claimed and not soon))


def _served(e: Engine, done: Turn, lane: int, got: list[Claimed]) -> None:
    if got:
        done.claimed += got
        e.served[lane] = e.clocks.boot()


def _claim_opened(
    e: Engine, c: Connection, done: Turn, lanes: dict[int, Needs], lease_end: int
) -> list[list[int | None]]:
    """What was queued in this very transaction may start in it too, if there is room; answers the queue's heads."""
    left = False
    queued: list[list[int | None]] = e.ledger.hot.heads(c, "queued")
    for lane, present, _ in queued:
        if lane not in lanes or present is None or present > done.now:
            continue  # a lane that another host has just made comes next turn
        needs = lanes[lane]
        room = e.room(needs.kind) - len(done.claimed)
        if room > 0 and e.fits(needs):
            got, seen = claiming.claim_present(e, c, lane, needs, done.now, lease_end, room)
            _served(e, done, lane, got)
            left |= seen > len(got)
        else:
            left = True
    if left:
        e.ledger.dialect.notify(c)  # another host may have a free worker
    return queued


def _claim_late(
    e: Engine,
    c: Connection,
    done: Turn,
    queued: list[list[int | None]],
    lanes: dict[int, Needs],
    lease_end: int,
) -> None:
    waiting = sorted(
        (late, lane) for lane, _, late in queued if lane in lanes and late is not None and late <= done.now
    )
    if not waiting:
        e.pace.due(done.now, 0)
        return
    if not e.pace.due(done.now, rows.queued_late(c)):
        return
    for _, lane in waiting:
        needs = lanes[lane]
        if e.fits(needs) and e.room(needs.kind) > len(done.claimed):
            got = claiming.claim_late(e, c, lane, needs, done.now, lease_end)
            if got:
                _served(e, done, lane, got)
                e.pace.began(done.now)
                done.more |= e.pace.next_at <= done.now
                return


def _nearest(
    e: Engine, c: Connection, now: int, due: list[list[int]], queued: list[list[int | None]], *, changed: bool
) -> int | None:
    if changed:
        due, queued = e.ledger.hot.all_heads(c)
    times = [head for _, head in due] + [present for _, present, _ in queued]
    ahead = [t for t in times if t is not None and t > now]
    starts = [max(late, e.pace.next_at) for _, _, late in queued if late is not None]
    ahead += [
        t for t in starts if t > now
    ]  # what could start now and did not waits for room: an end wakes us
    ahead += claiming.rate_ends(e, c, queued, now)
    if e.toolbox.gates and (asks := gating.nearest_ask(c)) is not None:
        ahead.append(max(asks, now + 1))
    return min(ahead, default=None)


def _lanes(e: Engine, c: Connection, ids: list[int]) -> dict[int, Needs]:
    missing = [i for i in ids if i not in e.lane_cache]
    if missing:
        for number, text in jobs.lane_needs(c, missing).items():
            e.lane_cache[number] = Needs.read(text)
    return {i: e.lane_cache[i] for i in ids}


def _offered(e: Engine, c: Connection, kind: str, now: int) -> bool:
    """Does any live host (a heartbeat within three beats) offer this kind of work? (T-18)"""
    return kind in hosts.live_kinds(c, now)
