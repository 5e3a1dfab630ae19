"""Executor `script`: commands as supervised child processes."""
