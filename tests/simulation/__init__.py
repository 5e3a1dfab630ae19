"""Simulated days: the real engine and the real SQL, virtual time, and everything that can go wrong.

One seed decides all: what jobs there are, what people order, how long work takes and how it ends, which host dies
or stands still, whose clock is wrong, and which call to the ledger fails in which way. The same seed gives the same
history. ``world`` moves time, ``people``, ``works`` and ``faults`` act in it, and ``judging`` says whether what the
ledger tells is what happened.
"""
