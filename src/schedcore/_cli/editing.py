"""A job as a text to edit: its own fields as TOML, and back to what was changed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from schedcore._cli.toml import dumps
from schedcore.domain.errors import Refused

__all__ = ["changed", "read", "written"]

_FIELDS = ("name", "kind", "description", "owner", "scope", "labels", "toolset", "notify", "deliver_to")


def written(shown: Mapping[str, Any]) -> str:
    """The editable fields of a job, as ``show`` answers it."""
    order = {name: shown[name] for name in _FIELDS if shown.get(name)}
    order |= {name: told["value"] for name, told in shown["policies"].items() if told.get("origin") == "job"}
    order["trigger"] = shown["definition_text"]["trigger"] if "definition_text" in shown else shown["trigger"]
    order["payload"] = shown["payload"]
    head = f"# {shown['key']} ({shown['id']}). Save and close to change it; leave it as it is to change nothing.\n"
    return head + dumps(order)


def read(text: str) -> dict[str, Any]:
    """The fields of an edited text. Raises ``Refused``."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Refused(f"this is not TOML: {error}", code="bad_file", field="") from None


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What differs; ``None`` for what was taken away."""
    changes = {name: value for name, value in after.items() if before.get(name) != value}
    return changes | {name: None for name in before if name not in after}
