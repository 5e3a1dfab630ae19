"""One command a file, named as it is called; ``command`` in each."""
