"""What a script payload may say, and what is refused at creation (E-08, E-09)."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from schedcore_script.payload import ScriptPayload
from schedcore_script.settings import ScriptSettings


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"args": ["a", "b c", ""]}, ("a", "b c", "")),
        ({"args": ["a", "new\nline"]}, ("a", "new\nline")),
        ({"command": "a 'b c' \"d e\" f\\ g"}, ("a", "b c", "d e", "f g")),
        ({"command": "a; rm b"}, ("a;", "rm", "b")),
        ({"command": "echo $HOME `id` *"}, ("echo", "$HOME", "`id`", "*")),
        ({"command": "echo # no comment"}, ("echo", "#", "no", "comment")),
        ({"command": "a; rm b", "shell": True}, ("/bin/sh", "-c", "a; rm b")),
        ({"command": "docker ps --format '{{.Names}}'", "shell": True}, None),
    ],
)
def test_the_words_of_a_payload(given, words):
    payload = ScriptPayload(**given)

    assert words is None or payload.words == words


@pytest.mark.parametrize(
    ("timeout", "seconds"),
    [
        (120, 120),
        ("120", 120),
        ("90s", 90),
        ("2m", 120),
        ("1h30m", 5400),
        ("24h", 86_400),
        (1, 1),
        (86_400, 86_400),
    ],
)
def test_a_time_limit_is_seconds_or_a_text(timeout, seconds):
    assert ScriptPayload(args=["a"], timeout=timeout).timeout == seconds


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "exactly one of args and command"),
        ({"args": ["a"], "command": "a"}, "exactly one of args and command"),
        ({"args": []}, "args"),
        ({"args": [""]}, "empty name"),
        ({"args": ["a", 5]}, "args.1"),
        ({"args": ["a"], "shell": True}, "never given to a shell"),
        ({"args": ["a", "b\0c"]}, "NUL"),
        ({"args": ["a", "\ud800"]}, "not valid text"),
        ({"args": ["a"] * 1001}, "args"),
        ({"args": ["a", "x" * 131_072]}, "at most 131071"),
        ({"args": ["a", *["x" * 100_000] * 3]}, "at most 262144"),
        ({"command": "echo 'open"}, "unbalanced quotes"),
        ({"command": "  "}, "no word"),
        ({"command": "echo {{run_key}}", "shell": True}, '"$SCHEDCORE_RUN_KEY"'),
        ({"command": "echo {{DSH_SCHED_DELIVERY_KEY}}", "shell": True}, '"$DSH_SCHED_DELIVERY_KEY"'),
        ({"args": ["a"], "shell": "yes"}, "shell"),
        ({"args": ["a"], "cwd": "here"}, "absolute"),
        ({"args": ["a"], "cwd": "~/x"}, "absolute"),
        ({"args": ["a"], "cwd": ""}, "cwd"),
        ({"args": ["a"], "cwd": "/a\0"}, "NUL"),
        ({"args": ["a"], "env": {"A": 5}}, "env.A"),
        ({"args": ["a"], "env": {"A": {"secret": ""}}}, "env.A"),
        ({"args": ["a"], "env": {"A": {"secrt": "X"}}}, "env.A"),
        ({"args": ["a"], "env": {"1A": "x"}}, "no name of a variable"),
        ({"args": ["a"], "env": {"A=B": "x"}}, "no name of a variable"),
        ({"args": ["a"], "env": {"": "x"}}, "no name of a variable"),
        ({"args": ["a"], "env": {"A": "x\0"}}, "NUL"),
        ({"args": ["a"], "env": {f"A{n}": "x" for n in range(101)}}, "env"),
        ({"args": ["a"], "env": {"NOTIFY_SOCKET": "x"}}, "never set by a payload"),
        ({"args": ["a"], "env": {"WATCHDOG_USEC": "x"}}, "never set by a payload"),
        ({"args": ["a"], "env": {"SCHEDCORE_RUN": "x"}}, "never set by a payload"),
        ({"args": ["a"], "inherit": ["WATCHDOG_PID"]}, "never set by a payload"),
        ({"args": ["a"], "inherit": ["SCHEDCORE_REPORT"]}, "never set by a payload"),
        ({"args": ["a"], "inherit": ["A B"]}, "no name of a variable"),
        ({"args": ["a"], "env_files": ["x.env"]}, "absolute"),
        ({"args": ["a"], "env_files": ["/x"] * 11}, "env_files"),
        ({"args": ["a"], "timeout": 0}, "timeout"),
        ({"args": ["a"], "timeout": 86_401}, "timeout"),
        ({"args": ["a"], "timeout": True}, "timeout"),
        ({"args": ["a"], "timeout": "soon"}, "'2m'"),
        ({"args": ["a"], "timeout": ""}, "timeout"),
        ({"args": ["a"], "timeout": 1.5}, "timeout"),
        ({"args": ["a"], "timout": 5}, "did you mean 'timeout'"),
        ({"args": ["a"], "stdin": "x"}, "unknown field 'stdin'"),
    ],
)
def test_refused_with_the_remedy(given, said):
    with pytest.raises(ValidationError) as refused:
        ScriptPayload(**given)

    assert said in str(refused.value)


def test_the_payload_has_a_schema_for_forms():
    schema = ScriptPayload.model_json_schema()

    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == {
        *("args", "command", "shell", "cwd", "env", "env_files", "inherit", "timeout"),
    }


@pytest.mark.parametrize(
    "given",
    [
        {"kill_grace": 301},
        {"kill_grace": -1},
        {"report_max": 10},
        {"quarantine_days": 0},
        {"uid": 5},
        {"uid": 5, "gid": 5},
        {"cwd": "here"},
        {"folder": "here"},
        {"kil_grace": 1},
    ],
)
def test_settings_outside_their_range_are_refused(given):
    with pytest.raises(ValidationError):
        ScriptSettings(**given)
