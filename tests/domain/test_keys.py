from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from schedcore.domain.clock import SECOND, parse_text
from schedcore.domain.errors import Refused
from schedcore.domain.keys import EmptyKey, check_template, check_texts, render_key, render_texts, variables
from schedcore.domain.run import run_key

SLOT = parse_text("2026-10-06T05:35:00.000Z")
KEYS = {"run_key": "job-1|2026-10-06T05:35:00.000Z", "delivery_key": "digest-20261006"}


def rendered(template: str | None, *, zone: str = "UTC", slot: int = SLOT, job_id: str = "job-1") -> str:
    return render_key(template, job_id=job_id, run_key=run_key(job_id, slot), scheduled_for=slot, zone=zone)


def refused(template: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        check_template(template)
    return caught.value


def test_a_run_key_is_the_job_and_the_slot():
    assert run_key("job-1", SLOT) == "job-1|2026-10-06T05:35:00.000Z"


def test_without_a_template_the_delivery_key_is_the_run_key():
    assert rendered(None) == run_key("job-1", SLOT)


@pytest.mark.parametrize(
    ("template", "key"),
    [
        ("{{jobId}}", "job-1"),
        ("{{runKey}}", "job-1|2026-10-06T05:35:00.000Z"),
        ("{{scheduledFor}}", "2026-10-06T05:35:00.000Z"),
        ("{{date}}", "20261006"),
        ("{{hour}}", "05"),
        ("{{slot}}", "0535"),
        ("a {date} {{{date}}}", "a {date} {20261006}"),
        ("{{date}}{{date}}", "2026100620261006"),
        ("fixed", "fixed"),
    ],
)
def test_each_placeholder_has_one_meaning(template: str, key: str):
    assert rendered(template) == key


def test_date_and_hour_are_those_of_the_slot_in_the_jobs_zone():
    late = parse_text("2026-10-06T23:10:00.000Z")

    assert rendered("{{date}}-{{hour}}-{{slot}}", zone="Europe/Paris", slot=late) == "20261007-01-0110"
    assert rendered("{{date}}-{{hour}}", zone="America/New_York", slot=late) == "20261006-19"


def test_a_slot_and_a_manual_run_of_the_same_hour_share_one_delivery_key():
    template = "digest-{{jobId}}-{{date}}-{{hour}}"
    manual = SLOT + 105 * SECOND

    assert run_key("job-1", SLOT) != run_key("job-1", manual)
    assert rendered(template) == rendered(template, slot=manual) == "digest-job-1-20261006-05"


@pytest.mark.parametrize(
    ("template", "code"),
    [
        ("{{jobid}}", "unknown_placeholder"),
        ("{{day}}", "unknown_placeholder"),
        ("{{ date }}", "unknown_placeholder"),
        ("{{run_key}}", "unknown_placeholder"),
        ("{{}}", "unknown_placeholder"),
        ("{{date", "unknown_placeholder"),
        ("date}}", "unknown_placeholder"),
        ("", "empty_key"),
        ("   ", "empty_key"),
        ("a\nb", "control_character"),
        ("a\x00", "control_character"),
        ("a\u2028b", "control_character"),
        ("x" * 201, "length"),
        ("{{runKey}}{{runKey}}{{runKey}}", "length"),
        (7, "bad_type"),
        (None, "bad_type"),
    ],
)
def test_a_template_that_cannot_be_a_key_is_refused(template: Any, code: str):
    error = refused(template)

    assert (error.code, error.field, error.value) == (code, "delivery_key", template)


def test_a_misspelt_placeholder_is_answered_with_the_nearest_and_the_list():
    hint = refused("{{jobid}}").hint or ""

    assert "did you mean 'jobId'?" in hint
    assert "{{scheduledFor}}" in hint


def test_two_hundred_characters_are_taken():
    assert check_template("x" * 200) == "x" * 200


@given(st.lists(st.sampled_from(["{{date}}", "{{hour}}", "{{jobId}}", "-", "x", "{", "}", "é"]), max_size=20))
def test_what_is_taken_renders_within_its_bounds(pieces: list[str]):
    template = "".join(pieces)
    try:
        check_template(template)
    except Refused:
        return

    assert 1 <= len(rendered(template, job_id="j" * 64)) <= 255


PAYLOADS = [
    "plain",
    {"a": ["b", {"c": "{{other}} {{ x }} {{}} }} {{"}], "n": 3, "t": True, "z": None},
    {"text": "{{run-key}} {{RUN_KEY}} {run_key} {{run_key"},
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_what_has_no_placeholder_is_the_same_object(payload: Any):
    check_texts(payload)

    assert render_texts(payload, KEYS) is payload


@given(
    st.lists(st.text() | st.sampled_from(["{{", "}}", "run_key", "{{date}}", "{{ run_key }}"])).map("".join)
)
def test_any_other_text_passes_byte_for_byte(text: str):
    assume("{{run_key}}" not in text)

    assert render_texts({"text": text}, KEYS)["text"] == text


def test_both_placeholders_are_replaced_under_both_names_everywhere():
    payload = {
        "prompt": "as {{run_key}}/{{DSH_SCHED_RUN_KEY}}",
        "args": ["send", "--key={{delivery_key}}", {"deep": "{{DSH_SCHED_DELIVERY_KEY}}!"}],
        "kept": ["{{date}}"],
    }

    done = render_texts(payload, KEYS)

    assert done["prompt"] == f"as {KEYS['run_key']}/{KEYS['run_key']}"
    assert done["args"] == ["send", "--key=digest-20261006", {"deep": "digest-20261006!"}]
    assert done["kept"] is payload["kept"]
    assert payload["args"][1] == "--key={{delivery_key}}"


def test_a_value_is_never_read_as_a_placeholder_itself():
    done = render_texts("{{run_key}}", {"run_key": "{{delivery_key}}", "delivery_key": "x"})

    assert done == "{{delivery_key}}"


def test_verbatim_fields_are_left_to_their_executor():
    payload = {"command": "send {{run_key}}", "note": "{{run_key}}"}

    done = render_texts(payload, {"run_key": "K"}, frozenset({"command"}))

    assert done == {"command": "send {{run_key}}", "note": "K"}


def test_a_stored_text_without_braces_is_not_even_walked():
    class Unwalkable(dict[str, Any]):
        def items(self) -> Any:
            raise AssertionError

    payload = Unwalkable(a="{{run_key}}")

    assert render_texts(payload, {}, json_text='{"a":"b"}') is payload
    assert render_texts(payload, {}, json_text=b'{"a":"b"}') is payload
    with pytest.raises(AssertionError):
        render_texts(payload, {}, json_text='{"a":"{{run_key}}"}')


@pytest.mark.parametrize("value", ["", "  ", None])
def test_a_placeholder_without_a_value_is_an_error_and_never_a_blank(value: str | None):
    values = {} if value is None else {"delivery_key": value}

    with pytest.raises(EmptyKey) as caught:
        render_texts({"body": "k={{DSH_SCHED_DELIVERY_KEY}}"}, values)

    assert caught.value.code == "empty_key"


def test_an_empty_key_that_nobody_asks_for_harms_nobody():
    assert render_texts({"body": "{{run_key}}"}, {"run_key": "K", "delivery_key": ""}) == {"body": "K"}


@pytest.mark.parametrize(
    "text",
    [
        "{{DSH_SCHED_RUNKEY}}",
        "{{DSH_SCHED_}}",
        "{{dsh_sched_run_key}}",
        "{{ DSH_SCHED_RUN_KEY }}",
        "{{schedcore_run_key}}",
        "{{SCHEDCORE_RUN_KEY}}",
        "{{DSH_SCHED_RUN_KEY",
        "{{DSH_SCHED_RUN_KEY}",
        "{{DSH_SCHED_RUN_KEYS}}",
    ],
)
def test_a_misspelt_key_is_refused_at_creation_wherever_it_stands(text: str):
    with pytest.raises(Refused) as caught:
        check_texts({"args": ["a", f"x {text} y"]})

    assert caught.value.code == "unknown_placeholder"
    assert caught.value.field == "payload.args[1]"


def test_a_misspelt_key_is_answered_with_the_nearest():
    with pytest.raises(Refused, match="DSH_SCHED_RUN_KEY"):
        check_texts("{{DSH_SCHED_RUNKEY}}")


@pytest.mark.parametrize(
    "text", ["{{DSH_SCHED_RUN_KEY}}", "$DSH_SCHED_RUNKEY", "${SCHEDCORE_X}", "{{my_key}}"]
)
def test_known_keys_and_foreign_names_are_taken(text: str):
    check_texts({"text": text})


def test_a_deep_payload_is_walked_without_recursion():
    deep: Any = "{{DSH_SCHED_X}}"
    for _ in range(5_000):
        deep = [deep]

    with pytest.raises(Refused):
        check_texts(deep)


def test_work_finds_every_variable_of_the_list():
    given = variables(
        job="backup",
        run=7,
        run_key="R",
        delivery_key="D",
        scheduled_for=SLOT,
        attempt=2,
        trigger="schedule",
        report="/r.json",
        quarantine="/q",
    )

    assert given == {
        "SCHEDCORE_JOB": "backup",
        "SCHEDCORE_RUN": "7",
        "SCHEDCORE_RUN_KEY": "R",
        "SCHEDCORE_DELIVERY_KEY": "D",
        "SCHEDCORE_SCHEDULED_FOR": "2026-10-06T05:35:00.000Z",
        "SCHEDCORE_ATTEMPT": "2",
        "SCHEDCORE_TRIGGER": "schedule",
        "SCHEDCORE_REPORT": "/r.json",
        "SCHEDCORE_QUARANTINE": "/q",
        "DSH_SCHED_RUN_KEY": "R",
        "DSH_SCHED_DELIVERY_KEY": "D",
    }
    assert json.dumps(given)
