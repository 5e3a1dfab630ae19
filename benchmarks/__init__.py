"""The benchmark: schedcore beside the floor and its peers, in one run, on this machine.

``python -m benchmarks`` (or ``./dev bench``) measures what ``targets.toml`` names, prints one table and writes it
into ``results/``. What has something to compare with is a ratio of two contenders measured in turn, round by
round, each in a fresh process on a fresh ledger that lies on a real disk. Every drain is counted afterwards:
one finished run per slot, none lost, none twice; a contender that miscounts stops the benchmark.
"""
