"""Deliberate faults, one at a time: a suite that stays green over one of them is a suite that sees nothing."""
