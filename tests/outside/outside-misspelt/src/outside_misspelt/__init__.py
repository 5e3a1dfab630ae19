"""A third party's plugin that misspells a hook."""
