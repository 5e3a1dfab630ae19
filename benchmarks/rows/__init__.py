"""The rows of the table, one file a subject. ``ROWS`` is their order; each takes the bench and adds figures."""
