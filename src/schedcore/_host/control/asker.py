"""Who asks, of which ledger, and by what rules: what every deed of the door is handed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from schedcore._ledger.events import Actor
from schedcore.domain.words import language

if TYPE_CHECKING:
    from schedcore._engine.state import Engine
    from schedcore.domain.calendar import Calendars
    from schedcore.domain.trigger_parts import TriggerKinds
    from schedcore.spec.declarations import Executor

__all__ = ["Answer", "Asker", "Validate"]

Answer = dict[str, Any]
Validate = Callable[["Executor | Mapping[str, Any]", Mapping[str, Any]], Any]
"""``validate(executor or JSON Schema, payload)``: refuses a payload that does not fit, with its field path."""


def _validate(declared: Executor | Mapping[str, Any], payload: Mapping[str, Any]) -> Any:
    from schedcore._host.payloads import validate_payload

    return validate_payload(declared, payload)


class Asker:
    """One actor before one ledger; :class:`~schedcore._host.control.door.Control` says what each part is."""

    def __init__(
        self,
        engine: Engine,
        actor: Actor,
        *,
        timezone: str = "UTC",
        every_floor: int = 60,
        day_time: str = "09:00",
        kinds: Callable[[], TriggerKinds] | None = None,
        validate: Validate | None = None,
        faults: Sequence[tuple[str, str]] = (),
        sleep: Callable[[float], None] = time.sleep,
        lang: str = "en",
    ) -> None:
        self.engine = engine
        self.ledger = engine.ledger
        self.actor = actor
        self.timezone = timezone
        self.every_floor = every_floor
        self.day_time = day_time
        self.kinds = kinds or (lambda: engine.toolbox.triggers)
        self.validate = validate or _validate
        self.faults = tuple(faults)
        self.sleep = sleep
        self.lang = language(lang)

    def calendars(self) -> Calendars:
        """What an order of this actor may name: every calendar of this process, and dates alone if it is a
        source, which knows days and no hours. Files are written by people, and read as people's orders are."""
        from schedcore.domain.calendar import Calendars

        dated = self.actor.kind == "source" and self.actor.name != "file"
        return Calendars(self.engine.toolbox.calendars, self.day_time, dated)
