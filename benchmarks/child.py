"""``python -m benchmarks.child module:function JSON``: one measurement in a process of its own.

The answer is the last line of standard output, as JSON; logs go nowhere, as long as nothing fails.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import sys

__all__: list[str] = []


def main(call: str, given: str) -> None:
    """Do it."""
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr)
    module, _, name = call.partition(":")
    answer = getattr(importlib.import_module(module), name)(**json.loads(given))
    print(json.dumps(answer), flush=True)
    os._exit(0)  # threads of a peer may still wait for work that will never come


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
