"""A third party's plugin that cannot be imported."""
