from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedcore.domain.clock import DAY, HOUR, MINUTE, parse_text, text
from schedcore.domain.errors import Refused
from schedcore.domain.job import JobOrder
from schedcore.domain.plan import plan

NOW = parse_text("2026-03-02T10:00:00.250Z")
KINDS = ("notification", "script", "agent")
LEAST = {"key": "backup", "kind": "script"}


def read(data: dict[str, Any], *, now_us: int = NOW, **how: Any) -> JobOrder:
    how = {"default_zone": "Europe/Paris", "known_kinds": KINDS} | how
    return JobOrder.parse(data, now_us=now_us, **how)


def refused(data: dict[str, Any], **how: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        read(data, **how)
    return caught.value


def test_a_job_file_reads_as_it_is_written():
    order = read(
        tomllib.loads("""
            key = "backup"
            name = "Nightly backup"
            kind = "script"
            zone = "America/New_York"
            trigger = {cron = "30 2 * * *", jitter = 30}
            toolset = ["ssh"]
            attempts = 2
            retry_delay = "2m"
            groups = ["disk"]
            assert = {command = "test -s backup.tar"}
            labels = {team = "ops"}

            [payload]
            args = ["backup", "--key={{delivery_key}}"]
        """)
    )

    assert (order.key, order.name, order.kind, order.zone) == (
        "backup",
        "Nightly backup",
        "script",
        "America/New_York",
    )
    assert (order.trigger.text, order.trigger.jitter) == ("30 2 * * *", 30)
    assert order.policies.to_dict() == {
        "attempts": 2,
        "retry_delay": 120,
        "groups": ["disk"],
        "assert": {"command": "test -s backup.tar", "timeout": 60, "env": "reduced"},
    }
    assert (order.payload["args"][0], order.toolset, order.labels) == ("backup", ("ssh",), {"team": "ops"})


def test_every_alias_of_a_job_file_is_read():
    old = read(
        {
            "id": "digest",
            "kind": "Agent",
            "prompt": "write it",
            "workspace": "/srv/w",
            "enabled": False,
            "deliverTo": {"sessionId": "s1"},
            "catchUpPolicy": "skip",
            "assertCmd": "test -s out",
            "assertTimeoutMs": 30_000,
            "notify": {"channel": "mail"},
            "deliveryKey": "digest-{{date}}",
            "trigger": {"kind": "cron", "expression": "0 9 * * *", "timezone": "Europe/Berlin"},
        }
    )
    new = read(
        {
            "key": "digest",
            "kind": "agent",
            "payload": {"prompt": "write it", "workspace": "/srv/w"},
            "state": "paused",
            "deliver_to": {"session": "s1"},
            "catch_up": "skip",
            "assert": {"command": "test -s out", "timeout": 30},
            "notify": {"channel": "email", "require": False},
            "delivery_key": "digest-{{date}}",
            "cron": "0 9 * * *",
            "zone": "Europe/Berlin",
        }
    )

    assert old == new
    assert old.digest() == new.digest()


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"id": "other"}, "id"),
        ({"enabled": True, "state": "paused"}, "state"),
        ({"prompt": "a", "payload": {"prompt": "b"}}, "prompt"),
        ({"catch_up": "all", "catchUpPolicy": "skip"}, "catchUpPolicy"),
        ({"zone": "UTC", "trigger": {"cron": "0 9 * * *", "timezone": "Europe/Paris"}}, "trigger.timezone"),
        ({"assert": {"command": "a"}, "assertCmd": "b"}, "assertCmd"),
    ],
)
def test_two_names_of_one_field_with_two_values_are_refused(data: dict[str, Any], field: str):
    error = refused(LEAST | data)

    assert (error.code, error.field) == ("given_twice", field)


@pytest.mark.parametrize(
    "data",
    [
        {"id": "backup"},
        {"enabled": True, "state": "actif"},
        {"prompt": "a", "payload": {"prompt": "a"}},
        {"zone": "UTC", "trigger": {"cron": "0 9 * * *", "timezone": "UTC"}},
    ],
)
def test_two_names_with_one_value_are_taken(data: dict[str, Any]):
    assert read(LEAST | data)


@pytest.mark.parametrize("key", ["a|b", "", "a b", "é", "-x", "x" * 101, "a/b", "a\n", "a\x00", "ａ", 7])
def test_a_key_that_cannot_part_run_keys_is_refused(key: Any):
    assert refused({"key": key, "kind": "script"}).field == "key"


@pytest.mark.parametrize("key", ["a", "A.b_c:d-1", "mcp:6f1c", "x" * 100, "9"])
def test_a_key_of_letters_digits_and_four_marks_is_taken(key: str):
    assert read({"key": key, "kind": "script"}).key == key


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\nb", "a\x1b[2K", "a\x85", 3])
def test_a_name_is_one_visible_line(name: Any):
    assert refused(LEAST | {"name": name}).field == "name"


def test_a_job_without_a_name_is_called_by_its_key():
    assert read(LEAST).name == "backup"


def test_an_unknown_field_is_refused_with_the_nearest_known():
    error = refused(LEAST | {"catchup": "all"})

    assert (error.code, error.field, error.value) == ("unknown_field", "catchup", "all")
    assert error.hint == "did you mean 'catch_up'?"


def test_an_unknown_kind_is_refused_with_the_nearest_and_taken_where_nobody_knows_the_kinds():
    error = refused({"key": "a", "kind": "scirpt"})

    assert (error.code, error.hint) == ("unknown_kind", "did you mean 'script'?")
    assert read({"key": "a", "kind": "mine.own"}, known_kinds=None).kind == "mine.own"


@pytest.mark.parametrize("missing", ["key", "kind"])
def test_a_job_needs_a_key_and_a_kind(missing: str):
    error = refused({name: value for name, value in LEAST.items() if name != missing})

    assert (error.code, error.field) == ("missing", missing)


@pytest.mark.parametrize("state", ["pending", "done", "retired", "sleeping", True])
def test_only_active_and_paused_may_be_ordered(state: Any):
    assert refused(LEAST | {"state": state}).field == "state"


def test_without_a_trigger_it_is_a_one_shot_due_at_once():
    order = read(LEAST)

    done = plan(order.trigger, last_slot=None, anchor=order.trigger.owed_from(NOW), now=NOW)
    assert order.immediate
    assert (done.open, done.next_slot) == ((NOW // 1000 * 1000,), None)


def test_in_is_a_single_run_that_much_later():
    order = read(LEAST | {"in": "30m"})

    assert order.trigger.next(NOW) == NOW // 1000 * 1000 + 30 * MINUTE
    assert not order.immediate


@pytest.mark.parametrize(
    ("data", "code", "field"),
    [
        ({"cron": "61 * * * *"}, "bad_cron", "cron"),
        ({"trigger": {"cron": "61 * * * *"}}, "bad_cron", "trigger.cron"),
        ({"trigger": {"cron": "0 0 30 2 *"}}, "never_fires", "trigger.cron"),
        ({"trigger": {"croon": "* * * * *"}}, "unknown_field", "trigger.croon"),
        ({"trigger": "30m"}, "bare_duration", "trigger"),
        ({"every": "30"}, "bad_duration", "every"),
        ({"every": "10s"}, "bad_duration", "every"),
        ({"in": 30}, "bad_duration", "in"),
        ({"in": "30m", "cron": "* * * * *"}, "two_kinds", "in"),
        ({"every": "30m", "trigger": {"cron": "* * * * *"}}, "two_kinds", "trigger"),
        ({"at": "2020-01-01T00:00"}, "in_the_past", "at"),
        ({"at": "tomorrow"}, "bad_instant", "at"),
        ({"cron": "* * * * *", "zone": "Mars/One"}, "unknown_zone", "zone"),
        ({"trigger": {"cron": "* * * * *", "timezone": "Mars"}}, "unknown_zone", "trigger.timezone"),
        ({"trigger": 5}, "no_trigger", "trigger"),
        ({"cron": "* * * * *", "jitter": 500}, "bad_jitter", "jitter"),
        ({"cron": "* * * * *", "count": 0}, "bad_count", "count"),
    ],
)
def test_an_error_in_a_trigger_names_the_field_as_it_was_written(data: dict[str, Any], code: str, field: str):
    error = refused(LEAST | data)

    assert (error.code, error.field) == (code, field)


def test_a_caller_puts_its_own_path_before():
    error = refused(LEAST | {"trigger": {"cron": "61 * * * *"}})

    assert error.under("jobs.backup").field == "jobs.backup.trigger.cron"


def test_a_date_of_toml_is_an_instant():
    order = read(LEAST | tomllib.loads("at = 2026-05-03T09:00:00Z"))
    local = read(LEAST | tomllib.loads("at = 2026-05-03T09:00:00"))

    assert order.trigger.next(NOW) == parse_text("2026-05-03T09:00:00.000Z")
    assert local.trigger.next(NOW) == parse_text("2026-05-03T07:00:00.000Z")


def test_a_host_may_lower_the_shortest_interval():
    assert read(LEAST | {"every": "1s"}, floor_s=1).trigger.next(NOW) is not None


def test_the_zone_is_the_jobs_else_the_hosts():
    assert read(LEAST | {"cron": "0 9 * * *"}).zone == "Europe/Paris"
    assert read(LEAST | {"cron": "0 9 * * *", "zone": "Asia/Tokyo"}).zone == "Asia/Tokyo"


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ("text", "payload"),
        ([1], "payload"),
        ({"a": {"b": object()}}, "payload.a.b"),
        ({"a": [1, float("nan")]}, "payload.a[1]"),
        ({"a": 2**64}, "payload.a"),
        ({"a": "\ud800"}, "payload.a"),
        ({"a": {1: 2}}, "payload.a"),
        ({"a": "x" * (256 * 1024)}, "payload"),
        ({"args": ["{{DSH_SCHED_RUNKEY}}"]}, "payload.args[0]"),
    ],
)
def test_a_payload_is_bounded_json_and_the_path_shows_where_it_is_not(payload: Any, field: str):
    assert refused(LEAST | {"payload": payload}).field == field


def test_a_payload_may_not_be_nested_for_ever():
    deep: Any = "x"
    for _ in range(10_000):
        deep = {"a": deep}

    assert refused(LEAST | {"payload": {"a": deep}}).field == "payload"


def test_a_payload_of_exactly_256_kib_is_taken():
    overhead = len('{"a":""}')

    assert read(LEAST | {"payload": {"a": "x" * (256 * 1024 - overhead)}})
    assert refused(LEAST | {"payload": {"a": "x" * (256 * 1024 - overhead + 1)}})


@pytest.mark.parametrize("toolset", ["ssh", [f"t{i}" for i in range(33)], ["a b"], [1]])
def test_a_toolset_is_at_most_32_names(toolset: Any):
    assert (refused(LEAST | {"toolset": toolset}).field or "").startswith("toolset")
    assert read(LEAST | {"toolset": ["imap:read", "ssh"]}).toolset == ("imap:read", "ssh")


@pytest.mark.parametrize("labels", ["a", {"a": 1}, {"a": "x" * 201}, {"": "x"}, [f"l{i}" for i in range(33)]])
def test_labels_are_few_and_short(labels: Any):
    assert (refused(LEAST | {"labels": labels}).field or "").startswith("labels")
    assert read(LEAST | {"labels": ["a", "b"]}).labels == {"a": "", "b": ""}


def test_null_is_the_same_as_not_given():
    nothing = dict.fromkeys(
        ["trigger", "payload", "toolset", "owner", "labels", "state", "enabled", "attempts", "cron", "notify"]
    )

    assert read(LEAST | nothing) == read(LEAST)


def test_a_digest_is_the_same_whenever_the_same_declaration_is_read():
    for more in ({}, {"in": "30m"}, {"every": "1h"}, {"cron": "0 9 * * *"}, {"at": "2026-05-03T09:00"}):
        early, late = read(LEAST | more), read(LEAST | more, now_us=NOW + 3 * DAY)

        assert early.digest() == late.digest()


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "agent"},
        {"payload": {"args": ["rm"]}},
        {"cron": "1 9 * * *"},
        {"zone": "UTC"},
        {"attempts": 2},
        {"toolset": ["ssh"]},
        {"assert": {"command": "true"}},
        {"notify": {"channel": "sms"}},
        {"count": 3},
    ],
)
def test_a_digest_changes_with_all_that_determines_what_runs(change: dict[str, Any]):
    base = LEAST | {"cron": "0 9 * * *", "payload": {"args": ["ls"]}}

    assert read(base | change).digest() != read(base).digest()


@pytest.mark.parametrize("change", [{"name": "x"}, {"owner": "me"}, {"labels": ["x"]}, {"state": "paused"}])
def test_a_digest_does_not_change_with_what_only_describes(change: dict[str, Any]):
    assert read(LEAST | change).digest() == read(LEAST).digest()


def test_an_interval_with_another_given_anchor_is_another_content():
    one = read(LEAST | {"trigger": {"every": "1h", "anchor": text(NOW // HOUR * HOUR)}})
    other = read(LEAST | {"trigger": {"every": "1h"}})

    assert one.digest() != other.digest()


def test_all_errors_of_a_file_are_shown_at_once():
    found = JobOrder.errors(
        {
            "key": "a|b",
            "kind": "scirpt",
            "trigger": {"cron": "bad"},
            "attempts": 99,
            "late_limit": "9y",
            "nmae": "x",
            "payload": {"a": "{{DSH_SCHED_X}}"},
        },
        now_us=NOW,
        known_kinds=KINDS,
    )

    assert {error.field for error in found} == {
        "key",
        "kind",
        "trigger.cron",
        "attempts",
        "late_limit",
        "nmae",
        "payload.a",
    }


def test_a_good_order_has_no_errors_and_an_empty_one_misses_two_fields():
    assert JobOrder.errors(dict(LEAST), now_us=NOW) == []
    assert [error.field for error in JobOrder.errors({}, now_us=NOW)] == ["key", "kind"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
field_names = st.sampled_from(
    ["key", "kind", "trigger", "cron", "every", "at", "in", "zone", "payload", "assert", "labels", "notify",
     "overlap", "overlap_max", "enabled", "state", "prompt", "deliver_to", "late_limit", "count", "x"]
)  # fmt: skip


@given(st.dictionaries(field_names, json_values, max_size=6))
def test_no_input_does_anything_but_pass_or_be_refused(data: dict[str, Any]):
    for error in JobOrder.errors(LEAST | data, now_us=NOW):
        assert isinstance(error, Refused)
        assert error.code
        assert error.field is not None


@pytest.mark.parametrize("echo", ["${7*7}", "{{7*7}}", "{0.__class__}", "%(x)s", "%s"])
def test_fault_S3_a_schedule_is_never_evaluated_and_echoed_as_it_is(echo: str):
    error = refused(LEAST | {"cron": echo})

    assert "49" not in str(error)
    assert error.value == echo
