"""The executor of kind ``script``: programs and shell texts as durable runs.

Kept empty on purpose: the spawner process imports this package and must stay small.
"""
