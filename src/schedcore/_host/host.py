"""Host: one engine, and the object an application holds (T-24, R-17).

Start order (T-20): settings, plugins, open the ledger, migrate, announce, loops. It configures no logging, takes
no signal and touches no flag of the process it lives in; the engine has threads of its own, so a blocked event
loop does not stop the beat.
"""

from __future__ import annotations

import getpass
import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from schedcore._engine import clock
from schedcore._host.control import Control
from schedcore._host.crew import Crew, build_engine
from schedcore._host.live import Onlookers
from schedcore._host.plugins import Plugins, gather, kinds_rows, validate_payload, versions
from schedcore._host.settings import Settings, load, to_engine
from schedcore._ledger.events import Actor
from schedcore._ledger.ledger import BUSY_LIMIT_S, Ledger
from schedcore._ledger.migrate import migrate
from schedcore.domain.errors import LedgerError, Refused
from schedcore.domain.masking import Masker

__all__ = ["Host", "this_person"]

log = logging.getLogger("schedcore.host")


def this_person() -> Actor:
    """The user of this process, as the actor of orders given in Python."""
    try:
        return Actor(getpass.getuser(), "person")
    except (OSError, KeyError):  # a uid without a name
        return Actor("unknown", "person")


class Host:
    """An engine process, embedded.

    ``ledger`` is a URL (``sqlite:///path`` or ``postgresql://…``); ``config`` a ``schedcore.toml``; ``plugins``
    are registered by hand, beside those found by entry points (``discover=False`` looks for none); ``settings``
    are further settings by dotted key, or one :class:`Settings` value. As a context manager it starts and stops::

        with Host("sqlite:///ledger.db") as host:
            host.control().add({"key": "hello", "kind": "script", "every": "60s",
                                "payload": {"args": ["echo", "hello"]}})

    Raises what the settings, the plugins and the ledger raise, before any loop has started.
    """

    def __init__(
        self,
        ledger: str | None = None,
        *,
        config: Path | str | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        plugins: Iterable[Any] = (),
        discover: bool = True,
        env: Mapping[str, str] | None = None,
    ) -> None:
        if isinstance(settings, Settings):
            self.settings = settings
        else:
            given = {**(settings or {}), **({"ledger": ledger} if ledger is not None else {})}
            self.settings = load(config, env if env is not None else {}, given, spoken="Host(…)")
        self._hand = tuple(plugins)
        self._discover = discover
        self._env = env
        self._onlookers = Onlookers()
        self._masker = Masker({})
        self._lock = threading.Lock()
        self._busy_s = BUSY_LIMIT_S
        self._plugins: Plugins | None = None
        self._ledger: Ledger | None = None
        self._crew: Crew | None = None

    # -- life -----------------------------------------------------------------------------------------

    def start(self, *, wait_s: float | None = 60.0, busy_s: float = BUSY_LIMIT_S) -> Self:
        """Start, and return after the first beat (at most ``wait_s`` seconds later; ``None`` waits for none).

        A host that could not start has no thread and no open ledger. Raises ``LedgerError`` when there was no beat
        in time, ``LedgerBusy`` when another writer held the ledger for ``busy_s`` seconds, and ``Refused``
        (``not_durable``) for a server that promises less than durable, unless ``accept_weaker`` names it.
        """
        with self._lock:
            if self._crew is not None:
                return self
            self._busy_s = busy_s
            crew = self._build()
            try:
                self.ledger.busy_limit_s = busy_s
                crew.engine.weaker = durable(self.ledger, self.settings.accept_weaker)
                crew.announce(kinds_rows(self.plugins.toolbox), versions(self.plugins.report))
                self.ledger.busy_limit_s = self._busy_s = BUSY_LIMIT_S
                crew.start()
            except BaseException:
                self.ledger.close()
                self._ledger = None
                raise
            self._crew = crew
        if wait_s is not None and not crew.engine.started.wait(wait_s):
            fault = self.fault
            self.stop(drain_s=0)
            raise LedgerError(
                f"no beat within {wait_s:g} s" + (f": {fault}" if fault else ""),
                hint="start again when the ledger answers, or give `wait_s` more time",
            )
        return self

    def stop(self, drain_s: float | None = None, *, hurry: threading.Event | None = None) -> None:
        """Stop: no new claim, drain, then stop what still runs (it ends ``interrupted: shutdown``).

        ``drain_s`` is seconds (the setting ``drain`` unless given); ``hurry`` cuts the drain short once set.
        """
        with self._lock:
            crew, self._crew = self._crew, None
        if crew is not None:
            crew.stop(self.settings.drain if drain_s is None else drain_s, hurry)
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # -- what it offers -------------------------------------------------------------------------------

    @property
    def plugins(self) -> Plugins:
        """The plugins of this host, found and asked at the first need."""
        if self._plugins is None:
            env = self._env if self._discover else {"SCHEDCORE_LOAD_PLUGINS": ""}
            self._plugins = gather(self.settings, self._hand, env)
        return self._plugins

    @property
    def ledger(self) -> Ledger:
        """The open ledger, migrated."""
        if self._ledger is None:
            ledger = Ledger(self.settings.ledger, wall=clock.wall, create=True)
            ledger.busy_limit_s = self._busy_s
            try:
                migrate(ledger)
            except BaseException:
                ledger.close()
                raise
            self._ledger = ledger
        return self._ledger

    @property
    def running(self) -> bool:
        """Is the engine started?"""
        return self._crew is not None

    def control(self, actor: Actor | None = None) -> Control:
        """What may be asked and ordered, as ``actor`` (the user of this process unless given)."""
        plugins = self.plugins
        engine = build_engine(
            self.ledger,
            plugins.toolbox,
            to_engine(self.settings),
            clock,
            self.settings.state_folder,
            self.settings.name,
        )
        return Control(
            engine,
            actor or this_person(),
            timezone=self.settings.timezone,
            every_floor=self.settings.every_floor,
            day_time=self.settings.day_time,
            kinds=lambda: plugins.trigger_kinds,
            validate=validate_payload,
            faults=[(one.name, one.error or "") for one in plugins.faults()],
            lang=self.settings.language,
        )

    def on(self, look: Callable[[dict[str, Any]], None]) -> None:
        """Call ``look(event)`` whenever a run starts or ends here; from the loop's thread, so be quick.

        An event has ``what`` (``started`` or ``finished``), ``job``, ``run``, ``scheduled_for``, ``attempt``; an
        end also ``state``, ``outcome``, ``reason``, ``duration_ms``, ``again_at``. For what must not be missed,
        declare a listener instead.
        """
        self._onlookers.add(look)
        if self._crew is not None:
            self._crew.loop.tell = self._onlookers.tell

    def on_beat(self, call: Callable[[], None]) -> None:
        """Call ``call()`` after every completed beat, from the loop itself (a watchdog's ping)."""
        self._onlookers.beats.append(call)

    def masker(self) -> Masker:
        """The masker of every secret value this process knows now (E-25)."""
        return self._crew.vault.masker() if self._crew is not None else self._masker

    def beats(self) -> int:
        """Completed beats since the start."""
        return self._crew.engine.counters.beats if self._crew is not None else 0

    @property
    def fault(self) -> str | None:
        """What went wrong last in this host since its start, if anything did: in the ledger or in a loop."""
        return self._crew.engine.counters.last_fault if self._crew is not None else None

    @property
    def broken(self) -> tuple[str, ...]:
        """Loops that died too often and are not started again, without which this host does nothing more (T-19).

        Stop it, and start another, in a process of its own if it can be: whatever killed them is still there.
        """
        return self._crew.broken if self._crew is not None else ()

    def keep(self, name: str, deed: Callable[[], object], every_s: float) -> None:
        """Repeat ``deed()`` in a loop of this started host, every so many seconds, until it stops.

        What it raises is logged and counted under the name, and shown in ``status``; the loop goes on.
        """
        if self._crew is not None:
            self._crew.keep(name, deed, every_s)

    def busy(self) -> int:
        """Runs in this host's hands."""
        return len(self._crew.engine.running) if self._crew is not None else 0

    # -- parts ----------------------------------------------------------------------------------------

    def _build(self) -> Crew:
        settings = self.settings
        plugins = self.plugins
        engine = build_engine(
            self.ledger, plugins.toolbox, to_engine(settings), clock, settings.state_folder, settings.name
        )
        password = self.ledger.url.password
        crew = Crew(
            engine,
            secrets={"ledger": str(password)} if password else None,
            tell=self._onlookers.tell if self._onlookers else None,
        )
        crew.loop.beaten = self._onlookers.beaten
        for one in plugins.faults():
            log.warning("plugin %s is left out: %s", one.name, one.error)
        return crew


def durable(ledger: Ledger, accepted: Collection[str] = ()) -> tuple[str, ...]:
    """What the ledger's server promises less than G5 asks, as ``name=value``; empty when nothing.

    Raises :class:`Refused` for what was not accepted by name: what a host acknowledges is to be durable, and
    whoever settles for less has to say so.
    """
    if ledger.is_sqlite:
        return ()
    with ledger.read() as c:
        weaker = tuple(ledger.dialect.durability(c))
    names = [one.partition("=")[0] for one in weaker]
    refused = [one for one, name in zip(weaker, names, strict=True) if name not in accepted]
    if refused:
        spelled = ", ".join(f'"{name}"' for name in names)
        raise Refused(
            f"the server of {ledger} may lose what it has acknowledged: {', '.join(refused)}",
            code="not_durable",
            field="accept_weaker",
            value=refused,
            hint=f"change the server's settings, or say `accept_weaker = [{spelled}]` and live with less",
        )
    return weaker
