"""``docs/settings.md`` has a row for every setting, with its default and range, and none for what is no setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from tests.house.pages import rows, toml_blocks

from schedcore._host.setting_fields import FIELDS, Field
from schedcore._host.settings import Settings, load
from schedcore.domain.duration import duration_text

PAGE = "docs/settings.md"
DEFAULTS = {one.name: one.default for one in fields(Settings)}


def spelled(value: Any, schema: Mapping[str, Any]) -> str:
    if value is MISSING or value is None:
        return "unset"
    if value == ():
        return "none"
    if isinstance(value, str):
        return f"`{value}`"
    return duration_text(value) if is_length(schema) else f"{value:,}"


def is_length(schema: Mapping[str, Any]) -> bool:
    return "maximum" in schema.get("anyOf", [{}])[0]


def values(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    if is_length(schema):
        low, high = (schema["anyOf"][0][end] for end in ("minimum", "maximum"))
        return f"{duration_text(low)}-{duration_text(high)}"
    if "maximum" in schema:
        return f"{schema['minimum']:,}-{schema['maximum']:,}"
    return {"array": "a list", "object": "a table"}.get(schema.get("type", ""), "")


def expected(one: Field) -> list[str]:
    return [f"`{one.key}`", spelled(DEFAULTS[one.on], one.schema), values(one.schema), one.says]


def test_the_page_is_the_table_of_settings():
    assert rows(PAGE, "setting") == [expected(one) for one in FIELDS.values()]


def test_the_example_can_be_used(tmp_path):
    (example,) = toml_blocks(PAGE)
    file = tmp_path / "schedcore.toml"
    file.write_text(example, encoding="utf-8")

    settings = load(file, {})

    assert settings.warnings == ()
    assert settings.groups["api"].rate == 60
