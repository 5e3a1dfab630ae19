"""Policies: every knob of a job, where each value came from, and the exact ranges (``features.md`` 3).

``Policies`` is what one place says (a job, a host, a kind of work); ``None`` means "not set here".
:func:`resolve` lays them over one another: the job, then the host, then the kind, then the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as detail
from typing import Any

from schedcore.domain.assertion import Assertion, gather_assertion
from schedcore.domain.clock import SECOND
from schedcore.domain.names import POLICY_FIELDS
from schedcore.domain.plan import SKIP_LATE_LIMIT
from schedcore.domain.policy_fields import READERS
from schedcore.domain.reading import fields, path, table, wrong

__all__ = ["Policies", "Resolved", "resolve"]

_SKIP_LATE_LIMIT = SKIP_LATE_LIMIT // SECOND


@dataclass(frozen=True, slots=True)
class Policies:
    """What one place sets. Durations are whole seconds; see :class:`Resolved` for each field's meaning."""

    catch_up: str | None = None
    catch_up_max: int | None = None
    late_limit: int | None = None
    overlap: str | None = None
    overlap_max: int | None = None
    attempts: int | None = None
    retry_delay: int | None = None
    retry_backoff: str | None = None
    retry_on: tuple[str, ...] | None = None
    timeout: int | None = None
    soft_fail: bool | None = None
    findings_exit: tuple[int, ...] | None = None
    breaker: int | None = None
    breaker_cooldown: int | None = None
    on_lost: str | None = None
    stop_when_cut: bool | None = None
    on_full: str | None = None
    groups: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    environments: tuple[str, ...] | None = None
    block_sensitive: str | None = None
    assertion: Assertion | None = None
    unchecked: str | None = None
    secrets: tuple[str, ...] | None = None
    gate_asks: int | None = None
    delivery_key: str | None = None

    @classmethod
    def parse(cls, data: Mapping[str, Any], field: str = "") -> Policies:
        """Read policies from names and values as people write them, aliases included.

        ``field`` is the path of the table. Raises ``Refused`` for an unknown name (with the nearest one), two
        names of one field with different values, and every value outside its range. ``None`` is "not set".
        """
        if isinstance(data, dict) and not data:
            return _UNSET
        given = fields(gather_assertion(table(data, field), field), POLICY_FIELDS, field)
        read = {
            "assertion" if name == "assert" else name: READERS[name](value, path(field, name))
            for name, value in given.items()
            if value is not None
        }
        if "overlap_max" in read and read.get("overlap") != "parallel":
            raise wrong(
                "only parallel runs have a number",
                path(field, "overlap_max"),
                read["overlap_max"],
                "contradiction",
                'add overlap = "parallel"',
            )
        if "findings_exit" in read and not read.get("soft_fail"):
            raise wrong(
                "exit codes are findings only under soft_fail",
                path(field, "findings_exit"),
                list(read["findings_exit"]),
                "contradiction",
                "add soft_fail = true",
            )
        return cls(**read)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Policies:
        """The inverse of :meth:`to_dict`; as strict as :meth:`parse`, so bad rows are noticed."""
        return cls.parse(data)

    def items(self) -> dict[str, Any]:
        """The fields that are set, by attribute name."""
        return {name: value for name in _FIELDS if (value := getattr(self, name)) is not None}

    def to_dict(self) -> dict[str, Any]:
        """The canonical form: only what is set, in the order of the fields, as plain JSON values."""
        plain: dict[str, Any] = {}
        for name, value in self.items().items():
            if isinstance(value, Assertion):
                plain["assert"] = value.to_dict()
            else:
                plain[name] = list(value) if isinstance(value, tuple) else value
        return plain


_FIELDS = tuple(Policies.__dataclass_fields__)
_UNSET = Policies()


@dataclass(frozen=True, slots=True)
class Resolved:
    """Every policy with its value; ``origin[name]`` is ``job``, ``host``, ``kind`` or ``default``."""

    catch_up: str = "run_once"
    """``run_once``, ``skip`` or ``all`` (T-09)."""
    catch_up_max: int = 10
    """How many missed slots ``all`` runs, 1-1,000."""
    late_limit: int = 0
    """Seconds after slot + jitter; 0 is no limit. Unset it is 15 min under ``skip`` (T-10)."""
    overlap: str = "skip"
    """``skip``, ``queue_one``, ``replace`` or ``parallel`` (T-15)."""
    overlap_max: int = 2
    """Runs at once under ``parallel``, 2-32."""
    attempts: int = 1
    """Attempts in all, 1-10 (A-07)."""
    retry_delay: int = 60
    """Seconds between attempts, 5 s-30 min."""
    retry_backoff: str = "fixed"
    """``fixed`` or ``doubling``."""
    retry_on: tuple[str, ...] | None = None
    """The failed reasons to retry; ``None`` does not narrow them (A-08)."""
    timeout: int = 300
    """Seconds one attempt may take, 1 s-24 h (P-17)."""
    soft_fail: bool = False
    """A non-zero exit is ``findings`` (A-12)."""
    findings_exit: tuple[int, ...] = ()
    """The exit codes that are findings; empty means all."""
    breaker: int = 5
    """Failed runs in a row that pause the job, 0-100; 0 is off (A-10)."""
    breaker_cooldown: int = 0
    """Seconds until a probe, 1 min-30 d; 0 is never (A-11)."""
    on_lost: str = "stop"
    """``stop`` or ``retry`` (P-06)."""
    stop_when_cut: bool = False
    """Stop at two thirds of the lease when cut off from the ledger."""
    on_full: str = "wait"
    """``wait`` or ``skip`` (T-14)."""
    groups: tuple[str, ...] = ()
    """Named groups whose limits this job shares, at most 8 (P-19)."""
    tags: tuple[str, ...] = ()
    """Tags a host must have to take its runs (F-23)."""
    environments: tuple[str, ...] = ()
    """Environments a host must be of one of; empty means any."""
    block_sensitive: str = "no"
    """``no``, ``unapproved`` or ``always`` (E-14)."""
    assertion: Assertion | None = None
    """The check after the work (A-01)."""
    unchecked: str | None = None
    """Why it needs no check (A-06)."""
    secrets: tuple[str, ...] = ()
    """Names of the secrets a person granted (F-08)."""
    gate_asks: int = 4
    """How often a gate that said no is asked again, 0-10 (A-17)."""
    delivery_key: str | None = None
    """The template of the delivery key; ``None`` is the run key (D-17, D-20)."""
    origin: Mapping[str, str] = detail(default_factory=dict, compare=False)

    def value(self, name: str) -> Any:
        """The value of one policy by its own name, as shown to people (``assert`` included)."""
        return getattr(self, "assertion" if name == "assert" else name)


_DEFAULT_ORIGIN = dict.fromkeys(POLICY_FIELDS.own, "default")
_NOTHING = Policies()


def resolve(
    job: Policies, host: Policies = _NOTHING, kind: Policies = _NOTHING, *, retry_lost: bool = True
) -> Resolved:
    """The policies that hold for a job on a host.

    ``kind`` is what the executor declares (its limit as ``timeout``, its ``attempts``). With
    ``retry_lost=False`` it forbids ``on_lost = "retry"``, whoever asked for it.
    """
    values: dict[str, Any] = {}
    origin = dict(_DEFAULT_ORIGIN)
    for word, place in (("kind", kind), ("host", host), ("job", job)):
        for name, value in place.items().items():
            values[name] = value
            origin["assert" if name == "assertion" else name] = word
    if "late_limit" not in values and values.get("catch_up") == "skip":
        values["late_limit"] = _SKIP_LATE_LIMIT
    if not retry_lost and values.get("on_lost") == "retry":
        values["on_lost"], origin["on_lost"] = "stop", "kind"
    return Resolved(**values, origin=origin)
