"""The command ``schedcore``."""

from __future__ import annotations

import click

from schedcore._cli.front import shared_options
from schedcore._cli.groups import Top

__all__ = ["main"]

_EPILOG = """\
\b
Exit codes: 0 done, 1 the answer is bad, 2 usage or refused, 3 not found,
4 conflict, 5 ledger unreachable, 10 would change, 124 waited too long,
130 interrupted.
"""

main = Top(help="Durable scheduled work.", epilog=_EPILOG, params=list[click.Parameter](shared_options()))
