"""Payloads: refused alike by the plugin's model and by the schema that its host announced (T-18)."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Annotated, Any, Literal

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator

from schedcore._host.payload_schema import payload_schema
from schedcore._host.payloads import payload_errors, validate_payload
from schedcore._host.schema_check import schema_errors
from schedcore.domain.errors import Refused
from schedcore.spec import Executor, ok
from schedcore_script.payload import ScriptPayload


class Part(BaseModel):
    size: Annotated[int, Field(ge=1, le=9)]
    note: str | None = None


class Order(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=5, pattern="^[a-z]+$")]
    tone: Literal["plain", "warm"] = "plain"
    parts: Annotated[list[Part], Field(max_length=2)] = Field(default_factory=list)
    by_name: dict[str, Part] = Field(default_factory=dict)
    ratio: Annotated[float, Field(gt=0, lt=1)] | None = None
    either: int | Part = 1
    fixed: Literal[3] = 3
    step: Annotated[int, Field(multiple_of=5)] = 5


def executor(payload: Any = Order, **more: Any) -> Executor:
    return Executor("order", payload, lambda ctx: ok(), **more)


def announced(payload: Any = Order) -> dict[str, Any]:
    """The schema after its way through the ledger."""
    return dict(json.loads(json.dumps(payload_schema(executor(payload)))))


GOOD = [
    {"name": "ada"},
    {"name": "ada", "tone": "warm", "parts": [{"size": 1}], "by_name": {"x": {"size": 9, "note": None}}},
    {"name": "ada", "ratio": 0.5, "either": {"size": 2}, "fixed": 3, "step": 10},
]
BAD = [
    ({}, "payload.name"),
    ({"name": ""}, "payload.name"),
    ({"name": "toolong"}, "payload.name"),
    ({"name": "Ada"}, "payload.name"),
    ({"name": 3}, "payload.name"),
    ({"name": "ada", "tone": "wram"}, "payload.tone"),
    ({"name": "ada", "parts": [{"size": 1}, {"size": 10}]}, "payload.parts[1].size"),
    ({"name": "ada", "parts": [{}]}, "payload.parts[0].size"),
    ({"name": "ada", "parts": [{"size": 1}] * 3}, "payload.parts"),
    ({"name": "ada", "by_name": {"x": {"size": 0}}}, "payload.by_name.x.size"),
    ({"name": "ada", "ratio": 1.0}, "payload.ratio"),
    ({"name": "ada", "either": "one"}, "payload.either"),
    ({"name": "ada", "either": {"size": 12}}, "payload.either.size"),
    ({"name": "ada", "fixed": 4}, "payload.fixed"),
    ({"name": "ada", "step": 7}, "payload.step"),
    ({"name": "ada", "parts": {"size": 1}}, "payload.parts"),
]
STRANGE = [
    ({"nmae": "x", "name": "ada"}, "payload.nmae", "did you mean 'name'?"),
    ({"name": "ada", "parts": [{"size": 1, "sise": 2}]}, "payload.parts[0].sise", "did you mean 'size'?"),
    ({"name": "ada", "qqq": 1}, "payload.qqq", "known are name, tone"),
]


@pytest.mark.parametrize("payload", GOOD)
def test_a_good_payload_is_taken_as_it_is_with_and_without_the_plugin(payload: dict[str, Any]):
    assert validate_payload(executor(), payload) == payload
    assert validate_payload(announced(), payload) == payload


@pytest.mark.parametrize(("payload", "field"), BAD)
def test_a_bad_payload_is_refused_at_one_path_with_and_without_the_plugin(
    payload: dict[str, Any], field: str
):
    for kind in (executor(), announced()):
        with pytest.raises(Refused) as caught:
            validate_payload(kind, payload)
        assert caught.value.field == field


@pytest.mark.parametrize(("payload", "field", "hint"), STRANGE)
def test_an_unknown_field_is_refused_with_the_nearest_even_where_the_model_would_pass_it_over(
    payload: dict[str, Any], field: str, hint: str
):
    for kind in (executor(), announced()):
        with pytest.raises(Refused) as caught:
            validate_payload(kind, payload)
        assert (caught.value.field, caught.value.code) == (field, "unknown_field")
        assert hint in str(caught.value.hint)


def test_a_refusal_shows_the_value_and_what_to_write():
    (error,) = payload_errors(announced(), {"name": "ada", "step": 7})

    assert (error.value, error.hint) == (7, "a multiple of 5")


def test_all_that_is_wrong_is_told_at_once():
    errors = payload_errors(announced(), {"tone": 1, "step": 7})

    assert {error.field for error in errors} == {"payload.name", "payload.tone", "payload.step"}


def test_a_rule_that_only_the_model_knows_is_kept_where_the_plugin_is():
    class Even(BaseModel):
        n: int

        @field_validator("n")
        @classmethod
        def _even(cls, n: int) -> int:
            if n % 2:
                raise ValueError("must be even")
            return n

    (error,) = payload_errors(executor(Even), {"n": 3})

    assert str(error) == "payload.n: must be even"


def test_the_executors_own_check_has_the_last_word():
    def check(order: Order) -> None:
        if order.name == "eve":
            raise Refused("is not served", field="name", value=order.name)

    with pytest.raises(Refused) as caught:
        validate_payload(executor(check=check), {"name": "eve"})

    assert caught.value.field == "payload.name"


def test_a_model_that_forbids_unknown_fields_names_the_nearest():
    class Strict(BaseModel):
        model_config = ConfigDict(extra="forbid")
        inner: Part

    with pytest.raises(Refused) as caught:
        validate_payload(executor(Strict), {"inner": {"size": 1}, "iner": {}})

    assert "did you mean 'inner'?" in str(caught.value)


def test_a_model_that_takes_anything_takes_anything():
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")

    assert (
        validate_payload(announced(Open), {"x": 1}) == validate_payload(executor(Open), {"x": 1}) == {"x": 1}
    )


def test_a_model_without_fields_takes_none():
    class Empty(BaseModel):
        pass

    assert payload_errors(announced(Empty), {"x": 1})[0].code == "unknown_field"


@pytest.mark.parametrize("name", ["channel", "canal"])
def test_another_name_of_a_field_is_known_to_processes_without_the_plugin(name: str):
    class Message(BaseModel):
        model_config = ConfigDict(extra="forbid")
        channel: str = Field(validation_alias=AliasChoices("channel", "canal"))

    for kind in (executor(Message), announced(Message)):
        assert validate_payload(kind, {name: "sms"}) == {name: "sms"}
        assert payload_errors(kind, {name: "sms", "canel": 1})


def test_a_schema_written_by_hand_is_open_where_it_says_nothing():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

    assert validate_payload(executor(schema), {"n": 1, "x": 2}) == {"n": 1, "x": 2}
    assert payload_errors(executor(schema), {"n": "1"})[0].field == "payload.n"


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ({"args": ["a"], "argz": []}, "payload.argz"),
        ({"args": []}, "payload.args"),
        ({"args": ["a"], "env": {"A": {"secrt": "x"}}}, "payload.env.A.secret"),
        ({"args": ["a"], "env": {"A": 3}}, "payload.env.A"),
        ({"args": ["a"], "shell": "yes"}, "payload.shell"),
    ],
)
def test_a_script_is_refused_alike_with_and_without_its_plugin(payload: dict[str, Any], field: str):
    for kind in (executor(ScriptPayload), announced(ScriptPayload)):
        assert payload_errors(kind, payload)[0].field == field


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        ({"type": ["integer", "null"]}, None, True),
        ({"type": "integer"}, True, False),
        ({"type": "integer"}, 2.0, True),
        ({"type": "number"}, 2, True),
        ({"type": "number"}, True, False),
        ({"minimum": 3}, True, True),
        ({"type": "boolean"}, 1, False),
        ({"const": 1}, True, False),
        ({"enum": [1, 2]}, True, False),
        ({"minimum": 3}, 2, False),
        ({"maximum": 3}, 3, True),
        ({"exclusiveMinimum": 3}, 3, False),
        ({"exclusiveMaximum": 3}, 3, False),
        ({"minItems": 1}, [], False),
        ({"minProperties": 1}, {}, False),
        ({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, ["a", 1], True),
        ({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, ["a", "b"], False),
        ({"patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": False}, {"x1": 1}, True),
        (
            {"patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": False},
            {"x1": "a"},
            False,
        ),
        ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, 3, False),
        ({"oneOf": [{"minimum": 1}, {"maximum": 5}]}, 3, False),
        ({"oneOf": [{"minimum": 4}, {"maximum": 1}]}, 5, True),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1, False),
        ({"properties": {"a": False}}, {"a": 1}, False),
        ({"properties": {"a": True}}, {"a": 1}, True),
        ({"pattern": "(?<name"}, "x", True),
        ({"type": "unheard of"}, 1, True),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}, 1, False),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "string"}}}, "x", True),
        ({"$ref": "#/$defs/gone"}, 1, True),
        ({"$ref": "https://elsewhere/"}, 1, True),
    ],
)
def test_the_subset_of_json_schema(schema: dict[str, Any], value: Any, fits: bool):
    assert (schema_errors(schema, value, "payload") == []) is fits


def test_a_schema_that_leads_to_itself_ends():
    tree = {
        "$ref": "#/$defs/t",
        "$defs": {"t": {"properties": {"t": {"$ref": "#/$defs/t"}}, "type": "object"}},
    }

    assert schema_errors(tree, {"t": {"t": {"t": 1}}}, "p")[0].field == "p.t.t.t"
    assert schema_errors({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, 1, "p") == []


def test_a_payload_is_checked_against_a_schema_without_the_models():
    program = (
        "import sys; from schedcore._host.schema_check import schema_errors;"
        "assert schema_errors({'type': 'object'}, 1, 'payload');"
        "heavy = {'pydantic', 'sqlalchemy', 'jsonschema'} & set(sys.modules); assert not heavy, heavy"
    )

    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        ({"timeout": 0}, "payload.timeout"),
        ({"timeout": 86_401}, "payload.timeout"),
        ({"timeout": True}, "payload.timeout"),
        ({"args": []}, "payload.args"),
        ({"args": ["x"] * 1_001}, "payload.args"),
        ({"args": ["x" * 131_072]}, "payload.args[0]"),
        ({"args": None, "command": ""}, "payload.command"),
        ({"args": None, "command": "", "shell": True}, "payload.command"),
        ({"args": None, "command": "x" * 131_072}, "payload.command"),
        ({"cwd": ""}, "payload.cwd"),
        ({"cwd": "/" + "x" * 4_096}, "payload.cwd"),
        ({"env": {f"A{n}": "x" for n in range(101)}}, "payload.env"),
        ({"env": {"A": "x" * 131_072}}, "payload.env.A"),
        ({"env": {"A": {"secret": ""}}}, "payload.env.A.secret"),
        ({"env_files": ["/x"] * 11}, "payload.env_files"),
        ({"env_files": [""]}, "payload.env_files[0]"),
        ({"inherit": ["A"] * 101}, "payload.inherit"),
    ],
)
def test_the_bounds_of_a_script_are_in_the_schema_that_its_host_announces(fields: dict[str, Any], at: str):
    given = {"args": ["x"], **fields}

    refused = {
        bool(isinstance(kind, Executor)): payload_errors(kind, given)[0].field
        for kind in (executor(ScriptPayload), announced(ScriptPayload))
    }

    assert refused == {True: at, False: at}
