from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedcore.domain.assertion import Assertion
from schedcore.domain.errors import Refused
from schedcore.domain.names import POLICY_FIELDS
from schedcore.domain.policy import Policies, Resolved, resolve
from schedcore.domain.policy_fields import READERS
from schedcore.domain.run import FAILED_REASONS

DAY = 86_400


def refused(data: dict[str, Any]) -> Refused:
    with pytest.raises(Refused) as caught:
        Policies.parse(data)
    return caught.value


RANGES = [
    ("catch_up_max", [1, 1_000], [0, 1_001, -1, 1.5, "10", True]),
    ("late_limit", [0, 1, "0", "15m", 366 * DAY], [-1, 366 * DAY + 1, "367d", "15", 0.5]),
    ("attempts", [1, 10], [0, 11, True, "3"]),
    ("retry_delay", [5, "5s", 1_800, "30m"], [0, 4, 1_801, "31m"]),
    ("timeout", [1, "1s", DAY, "24h"], [0, DAY + 1, "25h", "999ms"]),
    ("breaker", [0, 100], [-1, 101]),
    ("breaker_cooldown", [0, 60, "1m", "30d"], [1, 59, 30 * DAY + 1]),
    ("gate_asks", [0, 10], [-1, 11]),
    ("soft_fail", [True, False], [1, 0, "true", "yes"]),
    ("stop_when_cut", [True, False], [1, "no"]),
    ("catch_up", ["run_once", "skip", "all", " ALL "], ["once", "run-once", "", 3]),
    ("overlap", ["skip", "queue_one", "replace", "parallel"], ["queue", "none"]),
    ("retry_backoff", ["fixed", "doubling"], ["exponential"]),
    ("on_lost", ["stop", "retry"], ["ask", "abandon"]),
    ("on_full", ["wait", "skip"], ["queue"]),
    ("block_sensitive", ["no", "unapproved", "always"], [False, "yes"]),
    ("retry_on", [[], ["timeout"], ["mail.refused"]], ["timeout", ["assertion"], ["tiemout"], [1]]),
    ("groups", [[], ["a"] * 8, [f"g{i}" for i in range(8)]], ["mail", [f"g{i}" for i in range(9)], ["a b"]]),
    ("tags", [["gpu"]], ["gpu", [""], ["-x"], [f"t{i}" for i in range(33)]]),
    ("environments", [["prod", "staging"]], [["pr|od"]]),
    ("secrets", [["MAIL_PASSWORD"]], [["a\nb"], {"MAIL": "x"}]),
    ("unchecked", ["it only warms a cache"], [True, "", "   ", "a\x00b", "x" * 1_001]),
    ("delivery_key", ["digest-{{jobId}}-{{date}}"], ["", "{{jobid}}", "x" * 201, 7]),
    (
        "assert",
        [{"command": "test -s report"}, {"check": "rows", "options": {"least": 3}, "timeout": "2s"}],
        [
            "test -s report",
            {},
            {"command": ""},
            {"check": "rows", "command": "true"},
            {"check": "rows", "env": "inherit"},
            {"command": "true", "options": {}} | {"options": {"least": 3}},
            {"check": "rows", "timeout": "11m"},
        ],
    ),
]


def test_the_table_of_ranges_has_every_policy_but_the_two_that_need_another():
    assert {name for name, _, _ in RANGES} == set(POLICY_FIELDS.own) - {"overlap_max", "findings_exit"}
    assert set(READERS) == set(POLICY_FIELDS.own)


@pytest.mark.parametrize(("name", "value"), [(name, v) for name, good, _ in RANGES for v in good])
def test_both_ends_of_a_range_are_taken(name: str, value: Any):
    assert Policies.parse({name: value}).items()


@pytest.mark.parametrize(("name", "value"), [(name, v) for name, _, bad in RANGES for v in bad])
def test_what_is_outside_a_range_is_refused_with_its_field_and_value(name: str, value: Any):
    error = refused({name: value})

    assert (error.field or "").startswith(name)
    assert error.message


@pytest.mark.parametrize("number", [1, 33, True, "4"])
def test_parallel_runs_are_two_to_thirty_two(number: Any):
    assert refused({"overlap": "parallel", "overlap_max": number}).field == "overlap_max"
    assert Policies.parse({"overlap": "parallel", "overlap_max": 32}).overlap_max == 32


@pytest.mark.parametrize("others", [{}, {"overlap": "skip"}])
def test_a_number_of_runs_without_parallel_is_refused(others: dict[str, Any]):
    assert refused({"overlap_max": 4, **others}).hint == 'add overlap = "parallel"'


@pytest.mark.parametrize("codes", [[0], [256], [126], [127], [], "3", [True], [-9]])
def test_only_real_exit_codes_may_be_findings(codes: Any):
    assert (refused({"soft_fail": True, "findings_exit": codes}).field or "").startswith("findings_exit")


def test_findings_codes_without_soft_fail_are_refused():
    assert refused({"findings_exit": [3]}).hint == "add soft_fail = true"
    assert Policies.parse({"soft_fail": True, "findings_exit": [3, 1, 3]}).findings_exit == (1, 3)


def test_an_unknown_policy_is_refused_with_the_nearest_name():
    error = refused({"retry_dealy": 60})

    assert (error.code, error.field) == ("unknown_field", "retry_dealy")
    assert error.hint == "did you mean 'retry_delay'?"


def test_a_prefix_is_in_the_path_of_the_error():
    with pytest.raises(Refused) as caught:
        Policies.parse({"assert": {"command": "true", "timeout": "11m"}}, "jobs.backup")

    assert caught.value.field == "jobs.backup.assert.timeout"


def test_aliases_are_read_and_own_names_written():
    policies = Policies.parse({"catchUpPolicy": "skip", "deliveryKey": "k-{{date}}"})

    assert policies.to_dict() == {"catch_up": "skip", "delivery_key": "k-{{date}}"}


def test_two_names_of_one_policy_are_refused_unless_they_agree():
    assert refused({"catch_up": "all", "catchUpPolicy": "skip"}).code == "given_twice"
    assert Policies.parse({"catch_up": "all", "catchUpPolicy": "all"}).catch_up == "all"


def test_the_flat_names_of_an_assertion_are_put_into_it():
    policies = Policies.parse({"assertCmd": "test -s report", "assertTimeoutMs": 90_000})

    assert policies.assertion == Assertion("test -s report", 90)
    assert policies.to_dict() == {"assert": {"command": "test -s report", "timeout": 90, "env": "reduced"}}


@pytest.mark.parametrize("ms", [999, 600_001, "60000", True])
def test_an_assertion_has_one_second_to_ten_minutes(ms: Any):
    assert refused({"assertCmd": "true", "assertTimeoutMs": ms}).field == "assertTimeoutMs"


def test_an_assertion_may_have_a_second_and_a_half_but_not_half_a_second():
    assert (
        Policies.parse({"assertCmd": "true", "assertTimeoutMs": 1_500}).to_dict()["assert"]["timeout"] == 1.5
    )
    assert refused({"assert": {"command": "true", "timeout": 0.5}}).field == "assert.timeout"


def test_an_assertion_of_4000_characters_is_taken_and_one_more_refused():
    assert Policies.parse({"assert": {"command": "x" * 4_000}}).assertion
    assert refused({"assert": {"command": "x" * 4_001}}).field == "assert.command"


def test_an_assertion_given_twice_is_refused():
    both = {"assert": {"command": "true"}, "assertCmd": "false"}

    assert refused(both).code == "given_twice"


def test_timeout_is_the_limit_of_the_work_however_it_is_spelt():
    assert Policies.parse({"Timeout": 60}) == Policies(timeout=60)


def test_the_job_comes_before_the_host_and_the_host_before_the_kind():
    resolved = resolve(
        Policies(attempts=2),
        Policies(attempts=4, breaker=0),
        Policies(attempts=3, breaker=7, timeout=60),
    )

    assert (resolved.attempts, resolved.breaker, resolved.timeout, resolved.gate_asks) == (2, 0, 60, 4)
    assert [resolved.origin[n] for n in ("attempts", "breaker", "timeout", "gate_asks")] == [
        "job",
        "host",
        "kind",
        "default",
    ]


def test_every_policy_has_a_value_and_an_origin():
    resolved = resolve(Policies())

    assert set(resolved.origin) == set(POLICY_FIELDS.own)
    assert resolved == Resolved()
    assert resolved.value("assert") is None
    assert resolved.value("retry_delay") == 60


def test_the_late_limit_is_a_quarter_of_an_hour_under_skip_and_none_otherwise():
    assert resolve(Policies(catch_up="skip")).late_limit == 900
    assert resolve(Policies(), Policies(catch_up="skip")).late_limit == 900
    assert resolve(Policies(catch_up="skip", late_limit=0)).late_limit == 0
    assert resolve(Policies(catch_up="all")).late_limit == 0
    assert resolve(Policies(late_limit=60)).late_limit == 60


def test_a_kind_may_forbid_that_a_lost_run_is_tried_again():
    resolved = resolve(Policies(on_lost="retry"), retry_lost=False)

    assert (resolved.on_lost, resolved.origin["on_lost"]) == ("stop", "kind")


def test_what_may_be_retried_is_a_failed_reason():
    assert Policies.parse({"retry_on": ["exit_code", "signal", "timeout", "provider"]})
    assert "assertion" in FAILED_REASONS
    assert refused({"retry_on": ["timeout", "assertion"]}).field == "retry_on[1]"


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "catch_up": st.sampled_from(["run_once", "skip", "all"]),
            "attempts": st.integers(1, 10),
            "late_limit": st.integers(0, 366 * DAY),
            "soft_fail": st.booleans(),
            "groups": st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), max_size=8, unique=True),
            "assert": st.builds(lambda t: {"command": "true", "timeout": t}, st.integers(1, 600)),
        },
    )
)
def test_the_stored_form_reads_back_as_the_same_policies(data: dict[str, Any]):
    policies = Policies.parse(data)

    assert Policies.from_dict(policies.to_dict()) == policies
    assert set(policies.to_dict()) == set(data)
