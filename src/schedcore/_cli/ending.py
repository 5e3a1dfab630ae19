"""How a call ends that did not end well: one sentence on stderr, and the exit code of ``cli.md``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from schedcore._cli.front import color_of
from schedcore.domain.errors import SchedcoreError
from schedcore.domain.lines import escape

__all__ = ["BAD", "INTERRUPTED", "TIMED_OUT", "UNREACHABLE", "USAGE", "WOULD_CHANGE", "report", "warn"]

BAD = 1
USAGE = 2
UNREACHABLE = 5
WOULD_CHANGE = 10
TIMED_OUT = 124
INTERRUPTED = 130


def report(error: BaseException, given: Sequence[str]) -> int:
    """Say what went wrong, as JSON where that was asked for; answers the exit code."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    if isinstance(error, BrokenPipeError):
        return _reader_gone()
    code, told = _told(error)
    told["message"] = told["message"] or type(error).__name__
    options = _options(given)
    if "--json" in options:
        _write(json.dumps({"error": told}))
        return code
    color = _color(options)
    if isinstance(error, click.UsageError) and error.ctx is not None:
        _write(error.ctx.get_usage(), color)
    where = f"{told['field']}: " if told["field"] else ""
    _write(click.style("error: ", fg="red", bold=True) + escape(f"{where}{told['message']}"), color)
    if told["hint"]:
        _write("  hint: " + escape(str(told["hint"])))
    if isinstance(error, click.UsageError) and error.ctx is not None and not told["hint"]:
        _write(f"  hint: {error.ctx.command_path} --help")
    if {"-v", "-vv", "--verbose"} & set(options):
        import traceback

        _write("".join(traceback.format_exception(error)).rstrip())
    return code


def warn(text: str) -> None:
    """A line on stderr that is no answer and no error."""
    _write(click.style("warning: ", fg="yellow") + escape(text))


def _told(error: BaseException) -> tuple[int, dict[str, Any]]:
    blank: dict[str, Any] = {"code": "", "message": str(error), "field": None, "value": None, "hint": None}
    if isinstance(error, SchedcoreError):
        return error.exit_code, error.as_dict()
    if isinstance(error, click.Abort | KeyboardInterrupt | EOFError):
        return INTERRUPTED, {**blank, "code": "interrupted", "message": "interrupted"}
    if isinstance(error, click.UsageError):
        field = (
            error.param.human_readable_name if isinstance(error, click.BadParameter) and error.param else None
        )
        return USAGE, {**blank, "code": "usage", "message": error.format_message(), "field": field}
    if isinstance(error, click.ClickException):
        return error.exit_code, {**blank, "code": "error", "message": error.format_message()}
    if isinstance(error, ConnectionError):
        return UNREACHABLE, {**blank, "code": "unreachable"}
    if isinstance(error, OSError):
        return BAD, {**blank, "code": "system", "value": error.filename}
    message = f"this is a fault of schedcore: {type(error).__name__}: {error}"
    return BAD, {**blank, "code": "fault", "message": message, "hint": "call it with -v for where it was"}


def _options(given: Sequence[str]) -> Sequence[str]:
    return given[: given.index("--")] if "--" in given else given


def _color(options: Sequence[str]) -> bool | None:
    """The context is gone by now, so what was asked for is looked up again."""
    asked = "auto"
    for at, option in enumerate(options):
        if option.startswith("--color"):
            asked = option.partition("=")[2] or "".join(options[at + 1 : at + 2])
    return color_of(asked, os.environ)


def _write(text: str, color: bool | None = None) -> None:
    click.echo(text, err=True, color=color)


def _reader_gone() -> int:
    """Whoever read our output has enough, as in ``schedcore list | head``."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
