"""The hooks there are, with the first sentence of what each says of itself."""

from __future__ import annotations

from inspect import getdoc

__all__ = ["hooks"]


def hooks() -> dict[str, str]:
    """Every hook by name, in the order of the spec."""
    from schedcore.spec import hooks as spec

    return {name: (getdoc(getattr(spec, name)) or "").split("\n", 1)[0] for name in spec.__all__}
