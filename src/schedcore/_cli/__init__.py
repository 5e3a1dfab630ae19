"""The command line: one command a file; it speaks to Control and Host only."""
