"""Plugins as third parties write them: distributions of their own, installed for real."""
