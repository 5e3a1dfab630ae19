"""One seed from its first second to its verdict: safety, then liveness, then quiescence."""

from __future__ import annotations

import tempfile
from pathlib import Path

from schedcore._ledger.schema import due, events, runs, skipped
from schedcore.domain.errors import SchedcoreError
from tests.simulation.judging import Story, judge, rows, told
from tests.simulation.world import World, seeded

__all__ = ["play", "year"]


def play(seed: int, hours: float, *, hosts: int | None = None) -> Story:
    """So many hours in which everything goes wrong, a quarter of one in which nothing does, and silence."""
    story = Story(seed)
    with seeded(seed), tempfile.TemporaryDirectory(dir=_memory(), prefix="schedcore-sim-") as folder:
        world = World(seed, Path(folder), hosts=hosts)
        try:
            for _ in range(4):
                world.people.make(world.alive()[0]) if world.alive() else None
                world._bury()
            world.later(10, world.people_act)
            world.later(300, world.fate_acts)
            world.run(hours * 3600)
            world.calm()
            world.run(900)
            story.violations += judge(world)
            story.violations += _quiet(world)
            told(world, story)
        finally:
            world.close()
    return story


def _quiet(world: World) -> list[str]:
    """Nobody wants anything any more: what is there ends, and then nothing is written but beats."""
    control = world.alive()[0].control
    for job in control.jobs():
        if job["state"] == "active":
            try:
                control.pause(job["key"], reason="the end")
            except SchedcoreError as error:
                return [f"quiescence: {job['key']} cannot be paused: {error}"]
    world.run(400)
    before = rows(world, runs, skipped, events, due)
    world.run(120)
    after = rows(world, runs, skipped, events, due)
    return (
        [] if before == after else ["quiescence: something is still written although nobody wants anything"]
    )


def year(days: float) -> tuple[int, int]:
    """One minutely job, one host, no faults: (minutes that passed, runs that ended well), the last one exact."""
    with seeded(0), tempfile.TemporaryDirectory(dir=_memory(), prefix="schedcore-sim-") as folder:
        world = World(0, Path(folder), hosts=1, faulty=False)
        world.works.calm = True
        try:
            world.alive()[0].add("minutely", cron="* * * * *")
            first = world.clock.wall()
            world.run(days * 86_400)
            minutes = (world.clock.wall() - first) // 60_000_000
            world.run(30)
            (ran,) = rows(world, runs)
            done = [run["scheduled_for"] for run in ran if run["outcome"] == "ok"]
            assert sorted(done)[-1] == first + minutes * 60_000_000
            return minutes, len(set(done))
        finally:
            world.close()


def _memory() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None
