"""A third party's plugin that works: an executor, its settings and a gate."""
