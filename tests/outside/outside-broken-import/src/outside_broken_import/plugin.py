"""Fails at its import, as a plugin does whose own dependency is missing."""

import a_module_that_is_nowhere  # noqa: F401

api_version = 1
