"""The stamp of a declaration: what was declared, and all that its reading depends on, as one digest.

A job that still carries the stamp of its declaration says what the declaration says, so an apply need not read
it again (``docs/decisions/0018``). Whoever changes the job otherwise takes the stamp away.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import orjson

from schedcore._engine.calendars import digests
from schedcore._version import __version__
from schedcore.domain.zones import tz_version

if TYPE_CHECKING:
    from schedcore._host.control.asker import Asker
    from schedcore._host.control.reading import Offer
    from schedcore.spec.declarations import Check

__all__ = ["stamps"]


def stamps(control: Asker, known: Offer, declared: Mapping[str, Any]) -> dict[str, str]:
    """The stamp of each declared job; none for what JSON cannot say, which is read every time."""
    world = sha256(_world(control, known))
    found = {}
    for external_id, data in declared.items():
        one = world.copy()
        try:
            one.update(orjson.dumps(data, option=orjson.OPT_SORT_KEYS))
        except TypeError:
            continue
        found[external_id] = one.hexdigest()[:32]
    return found


def _world(control: Asker, known: Offer) -> bytes:
    """Everything but the declaration that decides how it is read and whether it is taken."""
    from schedcore._host.payload_schema import payload_schema

    kinds = {kind: [str(payload_schema(executor)), executor.version] for kind, executor in known.here.items()}
    for kind, row in known.announced.items():
        kinds.setdefault(kind, [row["schema"], row["version"]])
    return orjson.dumps(
        {
            "core": __version__,
            "tz": tz_version(),
            "zone": control.timezone,
            "floor": control.every_floor,
            "kinds": kinds,
            "triggers": sorted(control.kinds()),
            "checks": {name: _options(check) for name, check in control.engine.toolbox.judges().items()},
            "calendars": digests(control.engine.toolbox.calendars),
            "dates": [control.day_time, control.calendars().dated],
        },
        option=orjson.OPT_SORT_KEYS,
    )


def _options(check: Check) -> str | None:
    from schedcore._host.payload_schema import model_schema

    return None if check.options is None else str(model_schema(check.options))
