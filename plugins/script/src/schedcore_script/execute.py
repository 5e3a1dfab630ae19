"""The executor of kind ``script``: from a run's context to its outcome.

What may stand in the way is asked first (sensitivity, secrets, files, folder); then one brief goes to the
supervisor; then its word, and nothing the script printed, decides the outcome.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from schedcore.spec import Finding, Outcome, RunContext, SecretRefused, SensitivityClass, blocked, failed
from schedcore_script import cgroup
from schedcore_script.attending import Ended, Lost, Refusal
from schedcore_script.brief import Brief
from schedcore_script.environment import EnvFileError, build, never, parse_env_file
from schedcore_script.folder import BadReport, FolderError, Folders, RunFolder, purge
from schedcore_script.outcomes import Tail, class_of, masked, refused, stopped, veto, with_classes
from schedcore_script.payload import ScriptPayload
from schedcore_script.script_file import digests, look, read_bounded
from schedcore_script.sensitivity import UNREADABLE, judge
from schedcore_script.settings import ScriptSettings
from schedcore_script.starting import NotStarted, Starter

__all__ = ["ScriptExecutor"]

_ENV_FILE_MOST = 64 * 1024
_MACHINES = frozenset({"model", "run", "source"})


class ScriptExecutor:
    """Runs scripts for one host; ``settings`` is replaced once, before the first run."""

    def __init__(self, settings: ScriptSettings | None = None) -> None:
        self.settings = settings or ScriptSettings()
        self._starter: Starter | None = None
        self._lock = threading.Lock()
        self._folders: Folders | None = None
        self._purged: set[str] = set()
        self._groups: str | None = None
        self._looked = False

    def accept(self, settings: ScriptSettings) -> None:
        """Take the checked settings of the host."""
        self.settings, self._looked = settings, False

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

    @property
    def groups(self) -> str | None:
        """Below which folder each run gets a control group; ``None`` where rlimits do, or no limit is set."""
        if not self._looked:
            self._groups, self._looked = cgroup.find() if self.settings.counted else None, True
        return self._groups

    def look(self) -> list[Finding]:
        """For ``doctor``: by what the limits on memory and processes are kept where it is asked (T7)."""
        if not self.settings.counted:
            return []
        what = "memory_limit and pid_limit of scripts are kept by "
        if (folder := cgroup.find(switch_on=False)) is not None:
            return [Finding("note", f"{what}a control group of each run, below {folder}")]
        return [
            Finding(
                "note",
                f"{what}rlimits, for each process and each user, and end a run with no reason of their own",
                "a control group (cgroup v2) that this process may write, such as Delegate=yes and "
                "DelegateSubgroup= in the service unit, keeps them for each run whole",
            )
        ]

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
            kind, reason, text, _ = stopped(ctx.stop.reason, "")
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
        no = veto(ctx, found)
        if no is not None:
            return no
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
        tail = Tail()
        try:
            run = self.starter.begin(brief)
        except NotStarted as error:
            folder.tidy()
            return failed("executor_error", str(error))
        ctx.stop.then(run.stop)
        end = run.attend(ctx.output, limit, settings.kill_grace, tail.add)
        if isinstance(end, Refusal):
            folder.tidy()
            return refused(end, brief)
        return with_classes(self._outcome(ctx, end, folder, tail.said(ctx)), found)

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
            self.groups or "",
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
        kind, reason, text, retry = class_of(ctx, end, code, said)
        if notes:
            text = "; ".join(part for part in (text, *notes) if part)
        return Outcome(kind, reason, text, code, retry, detail)

    def _left(self, ctx: RunContext, folder: RunFolder) -> tuple[dict[str, Any], str | None]:
        """What the script left in its folder, and a note where its report cannot be kept."""
        detail: dict[str, Any] = {}
        note = None
        if self.folders.give_back(folder):
            return detail, note
        try:
            report = folder.take_report(self.settings.report_max, self.folders.owner)
            if report is not None:
                detail["report"] = masked(report, ctx)
        except BadReport as error:
            note = ctx.mask(str(error))
        kept = folder.tidy()
        if kept is not None:
            detail["quarantine"] = masked(kept, ctx)
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
