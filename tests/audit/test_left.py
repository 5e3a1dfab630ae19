"""What could not be checked is said, with its reason, and is no finding."""

from __future__ import annotations

from tests.audit.conftest import Told

NOBODY = "no host lives that has beaten"
STEPPED = (
    "insert into {s}events(job_id,number,at,actor,actor_kind,action) select 0,1+max(number),max(at)+60000000,'h',"
    "'machine','clock_stepped' from {s}events where job_id=0"
)


def left(told: Told, rule: str) -> dict[str, int]:
    report = told.audit()
    assert report.findings == ()
    return dict(next(result.left for result in report.results if result.rule == rule))


def test_where_no_host_lives_nothing_is_judged_to_be_late(told: Told) -> None:
    told.sql("update {s}hosts set state='stopped'")

    assert left(told, "L1") == {NOBODY: 8}  # the active jobs
    assert left(told, "L2") == {NOBODY: 1}
    assert left(told, "L4") == {NOBODY: 1}


def test_an_attempt_under_which_the_clock_was_stepped_is_not_measured_by_it(told: Told) -> None:
    told.sql(
        STEPPED,
        "update {s}events set at=at+86400000000 where action='clock_stepped'",
        "update {s}attempts set claimed_at=claimed_at-86400000000 where run_id={open}",
    )

    assert left(told, "L2") == {"the ledger's clock was stepped while it was open": 1}


def test_a_run_under_which_the_clock_was_set_back_is_not_put_in_order(told: Told) -> None:
    told.sql("update {s}runs set opened_at=opened_at+1,started_at=opened_at where id={run}")

    assert left(told, "I5") == {"its instants show that the ledger's clock was set back meanwhile": 1}


def test_a_host_that_drains_decides_nothing_more(told: Told) -> None:
    told.sql("update {s}hosts set order_text='drain' where state='live'")

    assert left(told, "L1") == {"the host that beat last takes no more work": 8}


def test_an_attempt_is_not_open_too_long_while_its_judge_has_slept(told: Told) -> None:
    told.sql(
        "update {s}attempts set claimed_at=claimed_at-86400000000 where run_id={open}",
        "update {s}hosts set beats=1,started_at=started_at-86400000000 where name='third'",
    )

    assert left(told, "L2") == {}


def test_secrets_are_looked_for_where_some_are_known(told: Told) -> None:
    assert left(told, "I18") == {"no canary was given to look for": 1}
