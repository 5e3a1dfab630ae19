"""Doors for short visits: a control without an engine, for one command (P-31: a read starts nothing)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from schedcore._engine import clock
from schedcore._engine.toolbox import Toolbox
from schedcore._host.control import Control
from schedcore._host.crew import build_engine
from schedcore._host.settings import Settings, to_engine
from schedcore._ledger.events import Actor
from schedcore._ledger.ledger import Ledger
from schedcore._ledger.migrate import current, migrate, require

__all__ = ["open_control"]


@contextmanager
def open_control(
    settings: Settings, actor: Actor, *, load_plugins: bool = False, create: bool = False
) -> Iterator[Control]:
    """A control on the ledger of these settings; no loop runs.

    Plugins are loaded only when asked for: a read needs none, and an order's payload can be checked by the
    schema that hosts announced. ``create`` makes and migrates a ledger that is not there yet. Raises
    ``LedgerError`` for one that is not there or is behind, ``LedgerTooNew`` for a newer one.
    """
    ledger = Ledger(settings.ledger, wall=clock.wall, create=create)
    try:
        if create and current(ledger) is None:
            migrate(ledger)
        require(ledger)
        yield _control(settings, actor, ledger, load_plugins=load_plugins)
    finally:
        ledger.close()


def _control(settings: Settings, actor: Actor, ledger: Ledger, *, load_plugins: bool) -> Control:
    toolbox, kinds, validate = Toolbox(calendars=settings.calendars), None, None
    faults: tuple[tuple[str, str], ...] = ()
    if load_plugins:
        from schedcore._host.plugins import gather, validate_payload

        plugins = gather(settings)
        toolbox, validate = plugins.toolbox, validate_payload
        kinds = lambda: plugins.trigger_kinds  # noqa: E731
        faults = tuple((one.name, one.error or "") for one in plugins.faults())
    engine = build_engine(ledger, toolbox, to_engine(settings), clock, settings.state_folder, settings.name)
    return Control(
        engine,
        actor,
        timezone=settings.timezone,
        every_floor=settings.every_floor,
        day_time=settings.day_time,
        kinds=kinds,
        validate=validate,
        faults=faults,
        lang=settings.language,
    )
