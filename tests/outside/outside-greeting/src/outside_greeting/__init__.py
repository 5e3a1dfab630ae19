"""A third party's plugin that works: an executor, its settings, a gate and a check."""
