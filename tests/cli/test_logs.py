"""Log lines: each parses, none has a secret in it, none comes again and again (R-22)."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest

from schedcore._host.logs import JsonLines, Masked, Repeats, TextLines, configure
from schedcore.domain.errors import LedgerBusy
from schedcore.domain.masking import Masker

SECRET = "correct-horse-battery"


def record(message: str, *args: Any, at: float = 1_000.0, level: int = logging.ERROR, **more: Any):
    made = logging.LogRecord("schedcore.loop", level, "loop.py", 1, message, args, more.pop("exc_info", None))
    made.created = at
    for name, value in more.items():
        setattr(made, name, value)
    return made


def raised(error: BaseException):
    try:
        raise error
    except type(error) as caught:
        return (type(caught), caught, caught.__traceback__)


def test_a_json_line_has_instant_level_event_context_and_host():
    told = json.loads(JsonLines("host-1").format(record("job %s failed", "backup", job="backup", run=7)))

    assert told == {
        "instant": "1970-01-01T00:16:40.000Z",
        "level": "error",
        "event": "job backup failed",
        "job": "backup",
        "run": 7,
        "host": "host-1",
        "logger": "schedcore.loop",
    }


def test_a_text_line_is_one_line_whatever_is_in_it():
    line = TextLines("host-1").format(
        record("a\nb\x1b[31m\u2028c", job="x\ny", exc_info=raised(ValueError("p\nq")))
    )

    assert line.splitlines() == [line]
    assert line == ("1970-01-01T00:16:40.000Z ERROR   a\\nb\\x1b[31m\\u2028c job=x\\ny [ValueError: p\\nq]")


def test_the_code_of_an_error_is_told():
    told = json.loads(JsonLines("host-1").format(record("no", exc_info=raised(LedgerBusy("held")))))

    assert told["code"] == "ledger_busy"
    assert "LedgerBusy: held" in told["trace"]


def test_under_journald_each_line_begins_with_its_level():
    assert TextLines("h", syslog=True).format(record("no")).startswith("<3>1970")
    assert JsonLines("h", syslog=True).format(record("no", level=logging.INFO)).startswith("<6>{")


def test_secrets_are_masked_in_message_arguments_context_and_traceback():
    masked = Masked(lambda: Masker({"TOKEN": SECRET}))
    made = record("sent %s", SECRET, job=SECRET, exc_info=raised(ValueError(f"refused {SECRET}")))

    masked.filter(made)

    line = JsonLines("h").format(made)
    assert SECRET not in line
    assert line.count("[masked:TOKEN]") == 3
    assert "ValueError" in line
    assert SECRET not in TextLines("h", debug=True).format(made)


def test_a_thousand_equal_lines_are_one_and_a_count():
    repeats = Repeats()
    passed = [made for n in range(1_000) if repeats.filter(made := record("no ledger", at=1_000 + n / 20))]

    again = record("no ledger", at=1_061)

    assert len(passed) == 1
    assert repeats.filter(again)
    assert again.getMessage() == "no ledger (999 more since 00:16:40)"


def test_lines_that_differ_all_pass():
    repeats = Repeats()

    assert all(repeats.filter(record("run %d", n)) for n in range(50))


def test_a_count_that_nothing_follows_is_told_by_the_flush():
    repeats, stream = Repeats(), StringIO()
    handler = logging.StreamHandler(stream)
    for n in range(3):
        repeats.filter(record("no ledger", at=1_000 + n))

    repeats.flush(1_030_000_000, handler)
    assert stream.getvalue() == ""
    repeats.flush(1_061_000_000, handler)

    assert stream.getvalue() == "no ledger (2 more since 00:16:40)\n"


def test_a_clock_that_steps_back_silences_nothing():
    repeats = Repeats()
    repeats.filter(record("no", at=5_000))

    assert repeats.filter(record("no", at=1_000))


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger, put back as it was."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    ours = logging.getLogger("schedcore").level
    yield root
    root.handlers[:], root.level = handlers, level
    logging.getLogger("schedcore").setLevel(ours)
    logging.captureWarnings(capture=False)


def test_what_is_configured_says_ours_from_its_level_and_others_warnings(root: logging.Logger):
    stream = StringIO()
    configure(stream, "host-1", "info", form="json", masker=Masker)

    logging.getLogger("schedcore.host").info("ours")
    logging.getLogger("somebody").info("theirs")
    logging.getLogger("somebody").warning("their trouble")

    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["ours", "their trouble"]
