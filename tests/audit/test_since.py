"""``since``: what lies before is left out, and what stands across it is judged whole."""

from __future__ import annotations

import pytest
from tests.audit.conftest import Told
from tests.domain.moments import utc

EARLY, LATE = "2026-06-01T09:00:00Z", "2026-06-01T14:00:00Z"
EVERYTHING = utc("2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    "since", ["2026-06-01T08:00:00Z", EARLY, "2026-06-01T12:00:00Z", LATE, "2030-01-01T00:00:00Z"]
)
def test_a_true_ledger_is_true_from_any_instant_on(told: Told, since: str) -> None:
    assert told.broken(since=utc(since)) == {}


def test_less_is_checked_the_later_it_begins(sqlite_told: Told) -> None:
    checked = [
        {result.rule: result.checked for result in sqlite_told.audit(since=since).results}
        for since in (None, utc(EARLY), utc(LATE))
    ]

    for rule in ("I1", "I2", "I7", "I16", "I19"):
        counts = [found[rule] for found in checked]
        assert counts[0] > counts[1] > counts[2], rule


BEFORE = ["delete from {s}attempts where run_id={run}", "delete from {s}runs where id={run}"]


def test_what_is_missing_before_is_not_looked_for_and_behind_it_is(told: Told) -> None:
    told.sql(*BEFORE)

    assert told.broken(since=utc(LATE)) == {}
    assert list(told.broken(since=utc(EARLY))) == ["I2"]


def test_a_row_across_the_instant_is_counted_whole(told: Told) -> None:
    told.sql("update {s}skipped set slots=slots+1 where id={row}")  # from 10:30 to 13:00

    assert list(told.broken(since=utc("2026-06-01T11:00:00Z"))) == ["I3"]
    assert told.broken(since=utc("2026-06-01T13:01:00Z")) == {}


def test_attempts_events_and_texts_are_read_from_there_on(told: Told) -> None:
    told.sql(
        "update {s}attempts set fence=2 where run_id={tried} and number=1",
        "update {s}runs set text='" + "t" * 9_000 + "' where id={run}",
        "delete from {s}events where job_id=0 and number=1",
    )

    assert sorted(told.broken(since=EVERYTHING)) == ["I16", "I19", "I6"]
    assert told.broken(since=utc(LATE)) == {}


def test_live_runs_and_hosts_are_judged_whenever_it_begins(told: Told) -> None:
    told.sql("update {s}hosts set beat_at=beat_at-3600000000 where name='first'")

    assert list(told.broken(since=utc("2030-01-01T00:00:00Z"))) == ["L4"]


def test_the_integrity_check_is_left_out_and_said_so(sqlite_told: Told) -> None:
    left = {result.rule: dict(result.left) for result in sqlite_told.audit(since=utc(LATE)).results}

    assert "the integrity check reads the whole file: leave --since out" in left["I20"]
