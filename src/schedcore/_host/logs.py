"""Log lines of a service: one line an event, masked, and no line again and again (R-22).

Nothing here is used when a program embeds schedcore: then logging is that program's affair.
"""

from __future__ import annotations

import json
import logging
from collections import OrderedDict
from collections.abc import Callable
from typing import IO

from schedcore.domain.clock import text
from schedcore.domain.errors import SchedcoreError
from schedcore.domain.lines import cut, escape
from schedcore.domain.masking import Masker

__all__ = ["JsonLines", "Masked", "Repeats", "TextLines", "configure"]

CONTEXT = ("job", "run", "attempt", "slot", "code")
"""What a record may carry beside its message, by ``extra``."""

_LINE = 16_384
_MINUTE = 60.0
_KEPT = 1_000
_SYSLOG = {"CRITICAL": 2, "ERROR": 3, "WARNING": 4, "INFO": 6, "DEBUG": 7}


class _Lines(logging.Formatter):
    """What both forms share: the fields of a record, in order."""

    def __init__(self, host: str, *, syslog: bool = False) -> None:
        super().__init__()
        self._host = host
        self._syslog = syslog

    def fields(self, record: logging.LogRecord) -> dict[str, object]:
        told: dict[str, object] = {
            "instant": text(int(record.created * 1_000_000)),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, SchedcoreError):
            told["code"] = error.code
        told |= {name: value for name in CONTEXT if (value := getattr(record, name, None)) is not None}
        told["host"] = self._host
        told["logger"] = record.name
        return told

    def finished(self, record: logging.LogRecord, line: str) -> str:
        return f"<{_SYSLOG.get(record.levelname, 6)}>{line}" if self._syslog else line


class JsonLines(_Lines):
    """One JSON object a line; a traceback is a field of it."""

    def format(self, record: logging.LogRecord) -> str:
        told = self.fields(record)
        told["event"] = cut(str(told["event"]), _LINE)
        if record.exc_info:
            told["trace"] = cut(self.formatException(record.exc_info), _LINE)
        return self.finished(record, json.dumps(told, default=str))


class TextLines(_Lines):
    """One line for people; of a traceback the last line, unless all of it is wanted (``debug``)."""

    def __init__(self, host: str, *, syslog: bool = False, debug: bool = False) -> None:
        super().__init__(host, syslog=syslog)
        self._debug = debug

    def format(self, record: logging.LogRecord) -> str:
        told = self.fields(record)
        more = "".join(f" {name}={told[name]}" for name in CONTEXT if name in told)
        line = f"{told['instant']} {record.levelname:<7} {told['event']}{more}"
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            line += f" [{type(error).__name__}: {error}]"
        line = cut(escape(line), _LINE)
        if record.exc_info and self._debug:
            trace = self.formatException(record.exc_info).splitlines()
            line += "".join(f"\n    {escape(part)}" for part in trace)
        return self.finished(record, line)


class Masked(logging.Filter):
    """Masks message, arguments and traceback by the masker of this moment (E-25)."""

    def __init__(self, masker: Callable[[], Masker]) -> None:
        super().__init__()
        self._masker = masker

    def filter(self, record: logging.LogRecord) -> bool:
        mask = self._masker().text
        record.msg, record.args = mask(record.getMessage()), None
        if record.exc_info and record.exc_info[1] is not None:
            told = _masked(record.exc_info[1], mask)
            record.exc_text = None
            record.exc_info = (type(told), told, record.exc_info[2])
        for name in CONTEXT:
            if isinstance(value := getattr(record, name, None), str):
                setattr(record, name, mask(value))
        return True


def _masked(error: BaseException, mask: Callable[[str], str]) -> BaseException:
    """The error as the log may tell it: the same, or one of its name with its text masked."""
    said = mask(str(error))
    if said == str(error):
        return error
    told: BaseException = type(type(error).__name__, (Exception,), {})(said)
    return told


class Repeats(logging.Filter):
    """Lets an equal line pass once a minute; the next one says how often it was meant (R-22).

    What is counted and not followed by another is told by :meth:`flush`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._seen: OrderedDict[tuple[str, int, str], list[float]] = OrderedDict()

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        key = (record.name, record.levelno, message)
        seen = self._seen.get(key)
        if seen is not None and 0 <= record.created - seen[0] < _MINUTE:
            seen[1] += 1
            return False
        if seen is not None and seen[1]:
            record.msg, record.args = f"{message} ({int(seen[1])} more since {_clock(seen[0])})", None
        self._seen.pop(key, None)
        self._seen[key] = [record.created, 0]
        while len(self._seen) > _KEPT:
            self._seen.popitem(last=False)
        return True

    def flush(self, now_us: int, handler: logging.Handler) -> None:
        """Tell the counts of lines that have not come again for a minute."""
        now = now_us / 1_000_000
        for key, (first, count) in list(self._seen.items()):
            if now - first < _MINUTE:
                continue
            del self._seen[key]
            if count:
                said = f"{key[2]} ({int(count)} more since {_clock(first)})"
                handler.emit(logging.LogRecord(key[0], key[1], "", 0, said, None, None))


def _clock(created: float) -> str:
    return text(int(created * 1_000_000))[11:19]


def configure(
    stream: IO[str], host: str, level: str, *, form: str, masker: Callable[[], Masker], syslog: bool = False
) -> tuple[logging.Handler, Repeats]:
    """Log to a stream, as ``text`` or ``json`` lines; answers the handler, for :meth:`Repeats.flush`."""
    handler = logging.StreamHandler(stream)
    debug = level == "debug"
    handler.setFormatter(
        JsonLines(host, syslog=syslog) if form == "json" else TextLines(host, syslog=syslog, debug=debug)
    )
    repeats = Repeats()
    handler.addFilter(Masked(masker))
    handler.addFilter(repeats)
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.DEBUG if debug else logging.WARNING)
    logging.getLogger("schedcore").setLevel(level.upper())
    logging.captureWarnings(capture=True)
    return handler, repeats
