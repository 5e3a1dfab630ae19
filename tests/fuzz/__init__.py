"""Whatever comes: readers, masks and the ledger itself under what nobody would think of.

In the suite the same few examples each time; `./dev fuzz` looks for new ones for as long as it is told to.
"""
