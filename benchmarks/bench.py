"""One run of the benchmark: its folder on a real disk, its PostgreSQL, and children that each measure one thing."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.figures import Figures

__all__ = ["Bench", "Contender", "Failed", "real_disk"]

ROOT = Path(__file__).resolve().parent.parent
_MEMORY = {"tmpfs", "ramfs", "devtmpfs"}
_PATIENCE_S = 600


class Failed(Exception):
    """A contender failed, or its ledger does not hold what it should."""


@dataclass(frozen=True, slots=True)
class Contender:
    """Who is measured: a function ``module:name`` that a child calls with ``given``, ``n`` and where to work.

    ``guess`` is about how many it does in a second: the size of its first round. ``note`` says what it does not
    store or sync, ``link`` where its documentation says how it is fastest.
    """

    name: str
    call: str
    guess: int
    given: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    link: str = ""


class Bench:
    """The run. ``seconds`` is about how long one contender takes in one round."""

    def __init__(self, *, quick: bool, rounds: int | None, say: Callable[[str], None]) -> None:
        self.quick = quick
        self.rounds = rounds or (3 if quick else 5)
        self.seconds = 0.5 if quick else 2.0
        self.say = say
        self.figures = Figures()
        self._stack = ExitStack()
        self._server: str | None = None
        self._numbers = itertools.count(1)
        self._leads: dict[str, float] = {}
        self.root = Path(tempfile.mkdtemp(prefix="schedcore-bench-", dir=real_disk()))
        self.root.chmod(0o755)  # PostgreSQL may run as another user
        self._stack.callback(shutil.rmtree, self.root, ignore_errors=True)

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    # -- where ----------------------------------------------------------------------------------------

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """A fresh folder, removed at the end."""
        path = Path(tempfile.mkdtemp(prefix="ledger-", dir=self.root))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    @property
    def server(self) -> str:
        """The URL of a durable PostgreSQL on the same disk, started at the first need."""
        if self._server is None:
            from benchmarks.server import server

            self._server = self._stack.enter_context(server(self.root))
        return self._server

    @contextmanager
    def place(self, database: str) -> Iterator[tuple[str, Path]]:
        """A fresh ledger's URL (``sqlite`` or ``postgresql``) and a folder beside it."""
        with self.folder() as folder:
            if database == "sqlite":
                yield f"sqlite:///{folder}/ledger.db", folder
                return
            from tests import pg

            with pg.database(self.server, f"bench_{next(self._numbers)}") as url:
                yield url, folder

    # -- doing ----------------------------------------------------------------------------------------

    def child(self, call: str, **given: Any) -> dict[str, Any]:
        """What ``module:function(**given)`` answers in a fresh process."""
        command = [sys.executable, "-m", "benchmarks.child", call, json.dumps(given)]
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=_PATIENCE_S, env=_env()
        )
        lines = done.stdout.splitlines()
        if done.returncode or not lines:
            raise Failed(f"{call}: {done.stderr.strip()[-3000:] or done.stdout.strip()[-3000:]}")
        answer: dict[str, Any] = json.loads(lines[-1])
        return answer

    def fresh(self, call: str, database: str, **given: Any) -> dict[str, Any]:
        """A child on a fresh ledger. One of ours names its slots ``lead`` seconds ahead; where its host was not
        ready by then it is asked again with a longer lead, and the next one begins with what was enough."""
        ours = call.startswith(("benchmarks.ours:", "benchmarks.timing:"))
        key = json.dumps([call, database, given.get("settings")])
        guess = 2.0 + given.get("n", 0) / (80_000 if database == "sqlite" else 15_000)
        while True:
            if ours:
                given["lead"] = self._leads.get(key, guess)
            with self.place(database) as (url, folder):
                answer = self.child(call, url=url, folder=str(folder), **given)
            if not ours:
                return answer
            needed = given["lead"] - answer["spare"]
            self._leads[key] = max(0.5, needed * 1.3 + 0.2)
            if answer["spare"] >= 0:
                return answer

    def drains(self, contenders: Sequence[Contender], database: str) -> dict[str, list[dict[str, Any]]]:
        """Each contender once a round, in turn; what each answered, round by round.

        From the second round on, a contender gets as many as it did in its first, for about ``seconds``.
        """
        size = {one.name: max(50, round(one.guess * self.seconds)) for one in contenders}
        found: dict[str, list[dict[str, Any]]] = {one.name: [] for one in contenders}
        for number in range(self.rounds):
            for one in _turned(contenders, number):
                answer = self.fresh(one.call, database, n=size[one.name], **one.given)
                rate = answer["n"] / answer["seconds"]
                found[one.name].append({**answer, "rate": rate})
                size[one.name] = max(50, round(rate * self.seconds / 50) * 50)
                self.say(f"{database} round {number + 1}: {one.name} {rate:,.0f}/s ({answer['n']:,})")
        return found


def real_disk() -> Path:
    """A folder for temporary files that is not kept in memory: what is synced there is synced to a disk."""
    from schedcore._ledger.dialects.sqlite import file_system

    for place in (Path(tempfile.gettempdir()), Path("/var/tmp"), ROOT):
        if place.is_dir() and os.access(place, os.W_OK) and file_system(place) not in _MEMORY:
            return place
    raise Failed("every folder for temporary files is in memory; set TMPDIR to one on a disk")


def _env() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SCHEDCORE_", "PG", "DBOS"))}
    return kept | {"PYTHONHASHSEED": "0"}


def _turned(contenders: Sequence[Contender], number: int) -> list[Contender]:
    """Another one begins each round, so that none always follows the same neighbour's dirt."""
    first = number % len(contenders)
    return [*contenders[first:], *contenders[:first]]
