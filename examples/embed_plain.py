"""schedcore inside a plain program: a host, a plugin given by hand, a job, and a stop in order.

    python examples/embed_plain.py [FOLDER]

The ledger stays in FOLDER: a second start finds the job there and goes on where the first one stopped.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import schedcore_script.plugin as script
from schedcore import Host


def main(folder: str) -> None:
    """Run one job three times."""
    host = Host(
        f"sqlite:///{Path(folder).absolute()}/ledger.db",
        settings={"state_folder": folder, "every_floor": 1},  # jobs may ask for one second
        plugins=[script],  # these and no others: nothing is looked for
        discover=False,
    )
    three = threading.Semaphore(0)

    def look(event: dict) -> None:
        """Called by the engine's own thread at each start and end: be quick."""
        if event["what"] == "finished":
            print(event["job"], event["scheduled_for"], event["state"], flush=True)
            three.release()

    host.on(look)
    with host:  # returns after the first beat; leaving it lets running work end
        control = host.control()
        if not control.jobs():  # the ledger remembers: a job is added once, not at each start
            control.add(
                {"key": "hello", "kind": "script", "every": "1s", "payload": {"args": ["echo", "hello"]}}
            )
        for _ in range(3):
            three.acquire(timeout=30)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "embedded")
