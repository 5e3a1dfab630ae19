"""The executor of kind ``script``: from a run's context to its outcome.

What may stand in the way is asked first (sensitivity, secrets, files, folder); then one brief goes to the
supervisor; then its word, and nothing the script printed, decides the outcome.
"""

from __future__ import annotations

import errno
import math
import os
import signal
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from schedcore.spec import Outcome, RunContext, SecretRefused, SensitivityClass, blocked, failed
from schedcore_script.environment import EnvFileError, build, never, parse_env_file
from schedcore_script.folder import BadReport, FolderError, Folders, RunFolder, purge
from schedcore_script.payload import ScriptPayload
from schedcore_script.script_file import digests, look, read_bounded
from schedcore_script.sensitivity import UNREADABLE, judge
from schedcore_script.settings import ScriptSettings
from schedcore_script.starting import Ended, Lost, NotStarted, Refusal, Starter
from schedcore_script.supervisor import Brief

__all__ = ["ScriptExecutor"]

_Kind = Literal["ok", "findings", "failed", "interrupted", "cancelled"]
_Class = tuple[_Kind, str | None, str | None, bool | None]
"""Kind, reason, text and the word on retries of an outcome."""

_TAIL = 4096
_SAID = 600
_ENV_FILE_MOST = 64 * 1024
_NOT_THERE = frozenset({126, 127})
_MACHINES = frozenset({"model", "run", "source"})


class ScriptExecutor:
    """Runs scripts for one host; ``settings`` is replaced once, before the first run."""

    def __init__(self, settings: ScriptSettings | None = None) -> None:
        self.settings = settings or ScriptSettings()
        self._starter: Starter | None = None
        self._lock = threading.Lock()
        self._folders: Folders | None = None
        self._purged: set[str] = set()

    def accept(self, settings: ScriptSettings) -> None:
        """Take the checked settings of the host."""
        self.settings = settings

    def start(self) -> None:
        """Nothing is begun before the first script."""

    def close(self) -> None:
        """Let the spawner go."""
        with self._lock:
            starter, self._starter = self._starter, None
            folders, self._folders = self._folders, None
        if starter is not None:
            starter.close()
        if folders is not None:
            folders.close()

    @property
    def starter(self) -> Starter:
        """The host's one spawner, from the host's side."""
        if self._starter is None:
            with self._lock:
                if self._starter is None:
                    self._starter = Starter(self.settings.python)
        return self._starter

    @property
    def folders(self) -> Folders:
        """The run folders of this host."""
        if self._folders is None:
            with self._lock:
                if self._folders is None:
                    self._folders = Folders(self.settings.uid, self.settings.gid)
        return self._folders

    # -- what others ask of a payload ------------------------------------------------------------------

    def classes(
        self, payload: ScriptPayload, extra: Sequence[SensitivityClass] = ()
    ) -> Mapping[str, tuple[str, ...]]:
        """The sensitivity classes of a payload, with the text of its script file as it is now."""
        return self._judge(payload, tuple(payload.env) + tuple(payload.inherit), extra)

    def content(self, payload: ScriptPayload) -> Mapping[str, str]:
        """What the payload only points at: the hash of each script file, so that an approval covers it."""
        return digests(payload.words, payload.cwd or self.settings.cwd, self.settings.path)

    def _judge(
        self, payload: ScriptPayload, names: tuple[str, ...], extra: Sequence[SensitivityClass]
    ) -> dict[str, tuple[str, ...]]:
        words = payload.words
        if payload.shell:
            seen = look((), None, self.settings.path)
        else:
            seen = look(words, payload.cwd or self.settings.cwd, self.settings.path)
        return _judged(words, names, seen.text, seen.unreadable, tuple(extra))

    # -- one attempt -----------------------------------------------------------------------------------

    def execute(self, ctx: RunContext) -> Outcome:
        """One attempt of one run; called in a worker thread."""
        payload: ScriptPayload = ctx.payload
        settings = self.settings
        if ctx.stop.is_set():
            kind, reason, text, _ = _stopped(ctx.stop.reason, "")
            return Outcome(kind, reason, text)
        root = settings.folder
        path = str(ctx.folder) if root is None else f"{root}/{ctx.run_id}"
        try:
            environment = self._environment(ctx, payload, RunFolder(path))
        except SecretRefused as refusal:
            return blocked("secret", str(refusal))
        except EnvFileError as error:
            return failed("script.env_file", str(error), retry=False)
        found = self._found(ctx, payload, environment)
        veto = _veto(ctx, found)
        if veto is not None:
            return veto
        limit = float(payload.timeout or ctx.limit or 0)
        limit = limit if limit < math.inf else 0.0  # 0: none, as for work that should never end
        try:
            brief = self._brief(ctx, payload, environment, path, limit)
        except ValueError as error:
            return failed("executor_error", ctx.mask(str(error)), retry=False)
        self._purge_once(os.path.dirname(path))
        try:
            folder = self.folders.take(path)
        except FolderError as error:
            return failed("executor_error", str(error))
        tail = _Tail()
        try:
            run = self.starter.begin(brief)
        except NotStarted as error:
            folder.tidy()
            return failed("executor_error", str(error))
        ctx.stop.then(run.stop)
        end = run.attend(ctx.output, limit, settings.kill_grace, tail.add)
        if isinstance(end, Refusal):
            folder.tidy()
            return _refused(end, brief)
        return _with_classes(self._outcome(ctx, end, folder, tail.said(ctx)), found)

    def _found(
        self, ctx: RunContext, payload: ScriptPayload, names: Iterable[str]
    ) -> Mapping[str, tuple[str, ...]]:
        """The classes of what is about to run, as it is now; they are stored with the run (E-14)."""
        own = tuple(n for n in names if n not in ctx.variables and n not in ("PATH", *_GIVEN))
        if "PATH" in payload.env or "PATH" in payload.inherit:
            own = ("PATH", *own)
        found = dict(self._judge(payload, own, tuple(ctx.options.get("sensitivity", ()))))
        if ctx.options.get("made_by") not in _MACHINES:
            found.pop(UNREADABLE, None)
        return found

    def _environment(self, ctx: RunContext, payload: ScriptPayload, folder: RunFolder) -> dict[str, str]:
        env: dict[str, str] = {}
        for name, value in payload.env.items():
            env[name] = value if isinstance(value, str) else ctx.secret(value.secret)
        inherited = None
        if payload.inherit:
            inherited = {n: os.environ[n] for n in payload.inherit if n in os.environ and not never(n)}
        files = [self._env_file(path) for path in payload.env_files]
        given = {"SCHEDCORE_REPORT": folder.report, "SCHEDCORE_QUARANTINE": folder.quarantine}
        return build(self.settings.path, {**ctx.variables, **given}, env, inherited=inherited, files=files)

    @staticmethod
    def _env_file(path: str) -> dict[str, str]:
        try:
            return parse_env_file(read_bounded(path, _ENV_FILE_MOST).decode(), path)
        except OSError as error:
            raise EnvFileError(f"{path}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise EnvFileError(f"{path}: it is not UTF-8") from None
        except EnvFileError:
            raise
        except ValueError as error:
            raise EnvFileError(str(error)) from None

    def _brief(
        self,
        ctx: RunContext,
        payload: ScriptPayload,
        environment: dict[str, str],
        folder: str,
        limit: float,
    ) -> Brief:
        words = payload.words
        if payload.command is not None and not payload.shell:
            words = tuple(ctx.render(word) if "{{" in word else word for word in words)
        for name, value in environment.items():
            if "\0" in value:
                raise ValueError(f"the value of {name} holds a NUL, which no program can be given")
        if any("\0" in word for word in words):
            raise ValueError("an argument holds a NUL, which no program can be given")
        settings = self.settings
        return Brief(
            list(words),
            environment,
            [part for part in environment["PATH"].split(":") if part.startswith("/")],
            payload.cwd or settings.cwd or folder,
            limit,
            settings.kill_grace,
            str(ctx.end_note),
            -1 if settings.uid is None else settings.uid,
            -1 if settings.gid is None else settings.gid,
            settings.memory_limit or 0,
            settings.pid_limit or 0,
            settings.file_size_limit or 0,
            settings.nice,
            settings.confined,
        )

    def _outcome(self, ctx: RunContext, end: Ended | Lost, folder: RunFolder, said: str) -> Outcome:
        detail, note = self._left(ctx, folder)
        notes = [note] if note else []
        if isinstance(end, Lost):
            why = "; ".join((end.text, *notes))
            return Outcome("failed", "executor_error", why, retry=False, detail=detail or None)
        code = None if end.status is None else os.waitstatus_to_exitcode(end.status)
        detail["cpu_ms"] = end.cpu_ms
        detail["peak_kib"] = end.peak_kib
        if end.killed:
            detail["killed"] = end.killed
            notes.append(f"{end.killed} process(es) it had left behind were killed")
        if end.left:
            detail["left"] = end.left
            notes.append(f"{end.left} process(es) could not be killed")
        kind, reason, text, retry = self._class(ctx, end, code, said)
        if notes:
            text = "; ".join(part for part in (text, *notes) if part)
        return Outcome(kind, reason, text, code, retry, detail)

    def _class(self, ctx: RunContext, end: Ended, code: int | None, said: str) -> _Class:
        """E-11, A-12: the class of an end, by exit status and the supervisor's word alone."""
        if end.why == "timeout":
            limit = ctx.payload.timeout or ctx.limit
            return "failed", "timeout", _join(f"still running after its limit of {limit:g} s", said), None
        if end.why != "end":
            return _stopped(ctx.stop.reason, said)
        if code == 0:
            return "ok", None, None, None
        if code is None or code < 0:
            name = "a signal" if code is None else _signal_name(-code)
            return "failed", "signal", _join(f"killed by {name}", said), None
        text = _join(f"exit code {code}", said)
        listed = ctx.options.get("findings_exit")
        if code not in _NOT_THERE and (code in listed if listed else ctx.options.get("soft_fail")):
            return "findings", None, text, None
        return "failed", "exit_code", text, False if code == 127 else None

    def _left(self, ctx: RunContext, folder: RunFolder) -> tuple[dict[str, Any], str | None]:
        """What the script left in its folder, and a note where its report cannot be kept."""
        detail: dict[str, Any] = {}
        note = None
        if self.folders.give_back(folder):
            return detail, note
        try:
            report = folder.take_report(self.settings.report_max, self.folders.owner)
            if report is not None:
                detail["report"] = _masked(report, ctx)
        except BadReport as error:
            note = ctx.mask(str(error))
        kept = folder.tidy()
        if kept is not None:
            detail["quarantine"] = _masked(kept, ctx)
        return detail, note

    def _purge_once(self, root: str) -> None:
        if root in self._purged:
            return
        with self._lock:
            if root in self._purged:
                return
            self._purged.add(root)
        purge(Path(root), self.settings.quarantine_days)


_GIVEN = ("SCHEDCORE_REPORT", "SCHEDCORE_QUARANTINE")


class _Tail:
    """The last bytes of stderr, for the words of an outcome."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept = b""

    def add(self, data: bytes) -> None:
        self._kept = data[-_TAIL:] if len(data) >= _TAIL else (self._kept + data)[-_TAIL:]

    def said(self, ctx: RunContext) -> str:
        """The last lines, masked, short; a line that was cut at its beginning is left out."""
        if not self._kept:
            return ""
        lines = [line.strip() for line in ctx.mask(self._kept.decode("utf-8", "replace")).splitlines()]
        return " | ".join(line for line in lines if line)[-_SAID:]


def _join(what: str, said: str) -> str:
    return f"{what}: {said}" if said else what


def _stopped(reason: str | None, said: str) -> _Class:
    if reason == "timeout":
        return "failed", "timeout", _join("stopped at its time limit", said), None
    if reason in ("operator", "replaced"):
        return "cancelled", reason, said or None, None
    return "interrupted", reason or "shutdown", said or None, None


def _refused(end: Refusal, brief: Brief) -> Outcome:
    why = os.strerror(end.errno) if end.errno else "it was refused"
    if end.step == "cwd":
        where = brief.cwd
        return failed("cwd", f"cannot start in {where}: {why}", retry=False)
    program = brief.argv[0]
    if end.step == "exec" and end.errno in (
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EACCES,
        errno.ENOEXEC,
        errno.ELOOP,
    ):
        hint = {
            errno.ENOEXEC: "; does its first line begin with #! ?",
            errno.EACCES: "; is it executable for the user that scripts run as?",
            errno.ENOENT: "; neither it nor the interpreter of its #! line may be missing",
        }.get(end.errno, "")
        return failed("not_found", f"cannot run {program}: {why}{hint}", retry=False)
    return failed("executor_error", f"cannot run {program}: {end.step}: {why}", retry=False)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _masked(value: Any, ctx: RunContext) -> Any:
    if isinstance(value, str):
        return ctx.mask(value)
    if isinstance(value, dict):
        return {ctx.mask(key): _masked(item, ctx) for key, item in value.items()}
    if isinstance(value, list):
        return [_masked(item, ctx) for item in value]
    return value


@lru_cache(256)
def _judged(
    words: tuple[str, ...],
    names: tuple[str, ...],
    text: str,
    unreadable: tuple[str, ...],
    extra: tuple[SensitivityClass, ...],
) -> dict[str, tuple[str, ...]]:
    """The judgement of a text is the same each time; a script that changed is another text."""
    return judge(words, names, text, unreadable=unreadable, extra=extra)


def _veto(ctx: RunContext, found: Mapping[str, tuple[str, ...]]) -> Outcome | None:
    """E-14: whether sensitive work may be begun."""
    rule = ctx.options.get("block_sensitive", "no")
    if not found or rule == "no" or (rule == "unapproved" and ctx.options.get("approved")):
        return None
    said = "; ".join(f"{name} ({', '.join(words)})" for name, words in found.items())
    then = "" if rule == "always" else ", and no approval covers it"
    return replace(blocked("sensitive", f"{said}{then}"), detail={"classes": dict(found)})


def _with_classes(outcome: Outcome, found: Mapping[str, tuple[str, ...]]) -> Outcome:
    return replace(outcome, detail={**(outcome.detail or {}), "classes": dict(found)}) if found else outcome
