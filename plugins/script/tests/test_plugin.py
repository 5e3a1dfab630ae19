from __future__ import annotations

from importlib_metadata import entry_points


def test_the_plugin_is_found_through_its_entry_point():
    (found,) = entry_points(group="schedcore", name="script")

    assert found.load().__name__ == "schedcore_script.plugin"
