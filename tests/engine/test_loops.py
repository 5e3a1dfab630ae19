"""The named loops of a host: errors are counted by name, and what dies is started again, five times (T-19)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import pytest

from schedcore._engine import loops
from schedcore._engine.loops import Deaths, Loops
from schedcore._engine.pool import Pool
from schedcore.domain.clock import MINUTE, SECOND


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a restart."""
    monkeypatch.setattr(loops, "FIRST_PAUSE_S", 0.0)


def dying(times: int, then: Callable[[], None] = lambda: None) -> Callable[[], None]:
    """A deed that dies so often."""
    left = [times]

    def deed() -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise SystemExit(f"death {times - left[0]}")
        then()

    return deed


def test_the_numbers_are_five_times_in_ten_minutes() -> None:
    assert (loops.RESTARTS, loops.WITHIN) == (5, 10 * MINUTE)


def test_a_sixth_death_within_ten_minutes_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "FIRST_PAUSE_S", 0.5)
    deaths = Deaths()

    pauses = [deaths.another(n * MINUTE) for n in range(5)]

    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert deaths.another(10 * MINUTE - 1) is None


def test_a_death_counts_for_ten_minutes_and_no_longer() -> None:
    deaths = Deaths()
    for n in range(5):
        assert deaths.another(n * SECOND) is not None

    assert deaths.another(10 * MINUTE) is not None
    assert deaths.another(10 * MINUTE) is None


def test_a_loop_that_dies_is_started_again_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    kept = Loops(lambda: 0)
    done = threading.Event()

    kept.start("tell", dying(5, done.set)).join(10)

    assert done.is_set()
    shown = kept.shown()
    assert shown["loops"] == {"tell": {"faults": 0, "restarts": 5, "last": "SystemExit: death 5"}}
    assert shown["given_up"] is None
    assert kept.given_up == ()
    assert [r.getMessage() for r in caplog.records] == ["tell died and is started again in 0 s"] * 5


def test_a_loop_that_dies_too_often_is_given_up_and_said(caplog: pytest.LogCaptureFixture) -> None:
    lost: list[str] = []
    kept = Loops(lambda: 0)
    kept.lost = lost.append

    kept.start("watch", dying(99)).join(10)

    assert lost == ["watch"]
    assert kept.given_up == ("watch",)
    assert kept.shown()["given_up"] == "given up after 5 restarts in 10 min: watch"
    assert caplog.records[-1].levelno == logging.ERROR
    assert caplog.records[-1].getMessage() == "watch died and is given up; restart this host"


def test_loops_of_different_names_do_not_count_against_one_another() -> None:
    kept = Loops(lambda: 0)
    done = threading.Event()

    kept.start("one", dying(4)).join(10)
    kept.start("other", dying(4, done.set)).join(10)

    assert done.is_set()
    assert kept.given_up == ()


def test_an_error_that_a_loop_contains_is_named_counted_and_no_death(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[str] = []
    kept = Loops(lambda: 0, told.append)

    for _ in range(7):
        with kept.contained("files", "files failed; it goes on"):
            raise ValueError("a bad file")

    assert kept.faults == 7
    assert kept.shown()["loops"]["files"] == {"faults": 7, "restarts": 0, "last": "ValueError: a bad file"}
    assert kept.given_up == ()
    assert told == ["ValueError: a bad file"] * 7
    assert caplog.records[0].getMessage() == "files: files failed; it goes on"


def test_what_dies_while_the_host_stops_is_left(caplog: pytest.LogCaptureFixture) -> None:
    kept = Loops(lambda: 0)
    deaths: list[int] = []

    def deed() -> None:
        deaths.append(1)
        kept.close()
        raise SystemExit

    kept.start("loop", deed).join(10)

    assert deaths == [1]


def test_a_worker_that_dies_is_replaced_and_the_pool_keeps_its_size() -> None:
    kept = Loops(lambda: 0)
    together = threading.Barrier(3)

    def deed(item: str) -> None:
        if item == "deadly":
            raise SystemExit
        together.wait(10)

    pool = Pool(2, deed, "work", kept)
    pool.start()
    for _ in range(3):
        pool.put("deadly")
    pool.put("work")
    pool.put("work")

    together.wait(10)  # both workers and this test: two of them live

    assert kept.shown()["loops"]["work"]["restarts"] == 3
    pool.close()
    pool.join(10)
