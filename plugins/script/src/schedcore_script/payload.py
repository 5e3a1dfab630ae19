"""What a script job says: exactly one of ``args`` and ``command``, and how to run it (E-08, E-09).

Everything that can be refused is refused here, at creation, with the remedy in the message.
"""

from __future__ import annotations

import re
import shlex
from functools import lru_cache
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    WithJsonSchema,
    model_validator,
)

from schedcore.spec import nearest

__all__ = ["RESERVED", "ScriptPayload", "SecretName", "seconds", "split"]

ARGUMENT_MOST = 131_071
"""Bytes of one argument or one variable: what Linux takes."""
TOTAL_MOST = 262_144
"""Bytes of all arguments, variables and names together."""

RESERVED = frozenset(
    {
        *("SCHEDCORE_JOB", "SCHEDCORE_RUN", "SCHEDCORE_RUN_KEY", "SCHEDCORE_DELIVERY_KEY"),
        *("SCHEDCORE_SCHEDULED_FOR", "SCHEDCORE_ATTEMPT", "SCHEDCORE_TRIGGER", "SCHEDCORE_REPORT"),
        *("SCHEDCORE_QUARANTINE", "DSH_SCHED_RUN_KEY", "DSH_SCHED_DELIVERY_KEY"),
        *("NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"),
    }
)
"""Names a payload may not set: they are given by schedcore, or belong to the service alone."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_PLACEHOLDER = re.compile(
    r"\{\{\s*(run_key|delivery_key|DSH_SCHED_RUN_KEY|DSH_SCHED_DELIVERY_KEY"
    r"|jobId|runKey|scheduledFor|date|hour|slot)\s*\}\}"
)
_VARIABLE = {
    "run_key": "SCHEDCORE_RUN_KEY",
    "runKey": "SCHEDCORE_RUN_KEY",
    "delivery_key": "SCHEDCORE_DELIVERY_KEY",
    "DSH_SCHED_RUN_KEY": "DSH_SCHED_RUN_KEY",
    "DSH_SCHED_DELIVERY_KEY": "DSH_SCHED_DELIVERY_KEY",
}
_DURATION = re.compile(r"(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s?)?", re.ASCII)


def seconds(value: Any) -> Any:
    """A time limit as whole seconds: ``120``, ``"120"``, ``"90s"``, ``"2m"``, ``"1h30m"``."""
    if isinstance(value, bool):
        raise ValueError("a time limit is a number of seconds, or a text such as '2m'")
    if not isinstance(value, str):
        return value
    found = _DURATION.fullmatch(value.strip().replace(" ", ""))
    if not value.strip() or found is None:
        raise ValueError(
            f"{value[:60]!r} is no time limit: write seconds (120) or a text such as '2m' or '1h30m'"
        )
    hours, minutes, rest = (int(part or 0) for part in found.groups())
    return hours * 3600 + minutes * 60 + rest


@lru_cache(maxsize=1024)
def split(command: str) -> tuple[str, ...]:
    """The words of a command, as a POSIX shell would split them; nothing is expanded."""
    return tuple(shlex.split(command))


Text = Annotated[StrictStr, WithJsonSchema({"type": "string", "maxLength": ARGUMENT_MOST})]
"""One argument or variable. Its bytes are counted below; characters are what a schema can say."""
Command = Annotated[
    StrictStr,
    Field(min_length=1),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": ARGUMENT_MOST}),
]
FilePath = Annotated[StrictStr, Field(min_length=1, max_length=4096)]
Limit = Annotated[int, Field(ge=1, le=86_400)]


class SecretName(BaseModel):
    """``{"secret": "NAME"}``: the value is asked for at the start of the run and stored nowhere."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    secret: Annotated[StrictStr, Field(min_length=1, max_length=200)]


class ScriptPayload(BaseModel):
    """The payload of kind ``script``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    args: Annotated[list[Text], Field(min_length=1, max_length=1000)] | None = Field(
        default=None, description="The program and its arguments. Advised: nothing is split or expanded."
    )
    command: Command | None = Field(
        default=None, description="One line, split into words; with shell = true a text for /bin/sh."
    )
    shell: StrictBool = Field(default=False, description="Give the command, whole, to /bin/sh -c.")
    cwd: FilePath | None = Field(
        default=None, description="Absolute folder to start in; it must exist at the start of a run."
    )
    env: Annotated[dict[StrictStr, Text | SecretName], Field(max_length=100)] = Field(
        default_factory=dict, description='Variables: a text, or {"secret": "NAME"}.'
    )
    env_files: Annotated[list[FilePath], Field(max_length=10)] = Field(
        default_factory=list, description="Files of NAME=VALUE lines; they overwrite nothing that is set."
    )
    inherit: Annotated[list[Text], Field(max_length=100)] = Field(
        default_factory=list, description="Names of variables taken from the host's own environment."
    )
    timeout: Annotated[Limit, BeforeValidator(seconds, json_schema_input_type=Limit | str)] | None = Field(
        default=None, description="Time limit: seconds, or a text such as '2m'; 1 s to 24 h."
    )

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, data: Any) -> Any:
        if isinstance(data, dict):
            for name in data:
                if name not in cls.model_fields:
                    near = nearest(str(name), set(cls.model_fields))
                    known = near or f"known are {', '.join(cls.model_fields)}"
                    raise ValueError(f"unknown field {str(name)[:60]!r} ({known})")
        return data

    @model_validator(mode="after")
    def _whole(self) -> ScriptPayload:
        if (self.args is None) == (self.command is None):
            raise ValueError("give exactly one of args and command")
        if self.shell and self.command is None:
            raise ValueError("shell = true needs command; args are never given to a shell")
        self._check_program()
        self._check_names()
        for name, path in (("cwd", self.cwd), *(("env_files", path) for path in self.env_files)):
            if path is not None and not path.startswith("/"):
                raise ValueError(
                    f"{name}: {path[:60]!r} is not an absolute path (~ and variables are not expanded)"
                )
        self._check_size()
        return self

    def _check_program(self) -> None:
        if self.command is not None and self.shell:
            if found := _PLACEHOLDER.search(self.command):
                variable = _VARIABLE.get(found[1], "SCHEDCORE_RUN_KEY")
                raise ValueError(
                    f'command: {found[0]} would be pasted into shell text; write "${variable}" in its place'
                )
        elif self.command is not None:
            try:
                words = split(self.command)
            except ValueError as error:
                raise ValueError(f"command: {str(error).lower()} (unbalanced quotes?)") from None
            if not words:
                raise ValueError("command: there is no word in it")
        if not self.words[0]:
            raise ValueError("the program has an empty name")

    def _check_names(self) -> None:
        for field, names in (("env", tuple(self.env)), ("inherit", tuple(self.inherit))):
            for name in names:
                if not _NAME.fullmatch(name):
                    raise ValueError(f"{field}: {name[:60]!r} is no name of a variable (letters, digits, _)")
                if name in RESERVED or name.startswith("WATCHDOG_"):
                    raise ValueError(f"{field}: {name} is never set by a payload")

    def _check_size(self) -> None:
        texts = [*(self.args or ()), self.command or "", self.cwd or "", *self.env_files]
        texts += [f"{name}={value}" for name, value in self.env.items() if isinstance(value, str)]
        total = 0
        for text in texts:
            if "\0" in text:
                raise ValueError(f"{text[:60]!r} holds a NUL, which no program can be given")
            try:
                size = len(text.encode())
            except UnicodeEncodeError:
                raise ValueError(f"{text[:60]!r} is not valid text") from None
            if size > ARGUMENT_MOST:
                raise ValueError(f"{size} bytes in one argument or variable; at most {ARGUMENT_MOST}")
            total += size
        if total > TOTAL_MOST:
            raise ValueError(f"{total} bytes of arguments and variables; at most {TOTAL_MOST}")

    @property
    def words(self) -> tuple[str, ...]:
        """The argument list as written, before placeholders of a ``command`` are replaced."""
        if self.args is not None:
            return tuple(self.args)
        assert self.command is not None
        return ("/bin/sh", "-c", self.command) if self.shell else split(self.command)
