"""Making the context of one attempt: the payload at once, the rest when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from schedcore._engine.outputs import FileOutput
from schedcore._engine.secrets import Vault
from schedcore._engine.shelf import Shelf
from schedcore._engine.state import Claimed, Engine
from schedcore.domain.clock import from_us
from schedcore.domain.keys import render_key, render_texts, variables
from schedcore.domain.run import RunTrigger, run_key
from schedcore.spec.context import RunContext
from schedcore.spec.declarations import Executor

__all__ = ["Contexts"]

_TRIGGERS = {t.value: t.word for t in RunTrigger}


class Contexts:
    """Makes contexts for one engine."""

    def __init__(self, engine: Engine, vault: Vault) -> None:
        self._engine = engine
        self._vault = vault

    def of(self, item: Claimed, output: FileOutput, executor: Executor) -> RunContext:
        """The context of an attempt, its payload checked by the executor's model, placeholders replaced.

        Raises ``EmptyKey`` for a key that renders empty, and what the model raises.
        """
        job = item.job
        context = RunContext()
        context.run_id, context.attempt, context.fence = item.run_id, item.attempt, item.fence
        context.job_key, context.stop, context.output = job.key, item.stop, output
        context.limit = float(job.limit)
        context.maker = lambda made, name: _MADE[name](self, item, made)
        if job.policies.delivery_key is not None:
            _ = context.delivery_key  # an empty one is met before anything is begun (D-05)
        payload = orjson.loads(job.payload)
        if "{{" in job.payload:
            payload = render_texts(payload, _values(context), executor.verbatim)
        model = executor.payload
        context.payload = payload if isinstance(model, Mapping) else model.model_validate(payload)
        return context

    def delivery_key(self, item: Claimed, made: RunContext) -> str:
        """The delivery key: the one an earlier run handed on, else the job's template, else the run key."""
        if item.delivery_key is not None:
            return item.delivery_key
        job = item.job
        template = job.policies.delivery_key
        if template is None:
            return made.run_key
        return render_key(
            template, job_id=job.uid, run_key=made.run_key, scheduled_for=item.slot, zone=job.zone
        )

    def variables(self, item: Claimed, made: RunContext) -> Mapping[str, str]:
        """The variables that work is given."""
        return variables(
            job=item.job.key,
            run=item.run_id,
            run_key=made.run_key,
            delivery_key=made.delivery_key,
            scheduled_for=item.slot,
            attempt=item.attempt,
            trigger=made.trigger,
        )

    def options(self, item: Claimed, made: RunContext) -> Mapping[str, Any]:
        """The policies that concern the executor."""
        policies = item.job.policies
        return {
            "soft_fail": policies.soft_fail,
            "findings_exit": policies.findings_exit,
            "block_sensitive": policies.block_sensitive,
            "approved": False,
            "made_by": item.job.creator_kind,
            "sensitivity": tuple(one for _, one in self._engine.toolbox.sensitivity),
        }

    def resolver(self, item: Claimed, made: RunContext) -> Callable[[str], str]:
        """Gives granted secrets."""
        return lambda name: self._vault.granted(name, item.job.policies.secrets)

    def masker(self, item: Claimed, made: RunContext) -> Callable[[str], str]:
        """Masks with every value known at that moment."""
        return lambda text: self._vault.masker().text(text)

    def services(self, item: Claimed, made: RunContext) -> Callable[[str], Any]:
        """Finds services by name."""
        return self._vault.service

    def shelf(self, item: Claimed, made: RunContext) -> Shelf:
        """The shelf of the plugin that does this kind of work."""
        return Shelf(self._engine.ledger, self._engine.toolbox.executors[item.job.kind][0])

    def folder(self, item: Claimed, made: RunContext) -> Any:
        """The run's own folder."""
        return self._engine.folder / "runs" / str(item.run_id)

    def end_note(self, item: Claimed, made: RunContext) -> Any:
        """Where the end of the work may be noted by who outlives the host."""
        return self._engine.folder / "spool" / f"{item.run_id}-{item.fence}.end"


def _values(made: RunContext) -> dict[str, str]:
    return {"run_key": made.run_key, "delivery_key": made.delivery_key}


def _renderer(self: Contexts, item: Claimed, made: RunContext) -> Callable[[str], str]:
    values = _values(made)
    return lambda text: str(render_texts(text, values))


_MADE: dict[str, Callable[[Contexts, Claimed, RunContext], Any]] = {
    "job_id": lambda self, item, made: item.job.uid,
    "run_key": lambda self, item, made: run_key(item.job.uid, item.slot),
    "delivery_key": Contexts.delivery_key,
    "zone": lambda self, item, made: item.job.zone,
    "scheduled_for": lambda self, item, made: from_us(item.slot),
    "trigger": lambda self, item, made: _TRIGGERS[item.trigger],
    "granted": lambda self, item, made: item.job.policies.secrets,
    "options": Contexts.options,
    "variables": Contexts.variables,
    "folder": Contexts.folder,
    "end_note": Contexts.end_note,
    "renderer": _renderer,
    "resolver": Contexts.resolver,
    "masker": Contexts.masker,
    "services": Contexts.services,
    "shelf": Contexts.shelf,
}
