"""Real processes: killed, stopped, cut off, started together. The outside record is the truth here."""
