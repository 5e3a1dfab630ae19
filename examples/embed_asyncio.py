"""schedcore inside an asyncio program, with a kind of work of its own.

    python examples/embed_asyncio.py [FOLDER]

The engine has threads of its own: a busy event loop does not stop it, and the work of this plugin goes back into
the loop only because it wants to.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from pydantic import BaseModel

from schedcore import Host
from schedcore.spec import Executor, ok
from schedcore.spec import hookimpl as implements


class Greeting(BaseModel):
    """The payload: checked when a job is added, with the path of the field that does not fit."""

    name: str


class Greeter:
    """A plugin: it declares kinds of work and starts nothing."""

    api_version = 1

    def __init__(self, loop: asyncio.AbstractEventLoop, greeted: asyncio.Queue[str]) -> None:
        self.loop, self.greeted = loop, greeted

    @implements
    def schedcore_executors(self) -> list[Executor]:
        """The kind ``greeting``."""
        return [Executor(kind="greeting", payload=Greeting, execute=self.greet)]

    def greet(self, ctx):
        """In a worker thread: blocking is fine here, and what belongs to the loop is handed to it."""
        self.loop.call_soon_threadsafe(self.greeted.put_nowait, f"hello {ctx.payload.name}")
        return ok()


async def main(folder: str) -> None:
    """Greet three times."""
    greeted: asyncio.Queue[str] = asyncio.Queue()
    host = Host(
        f"sqlite:///{Path(folder).absolute()}/ledger.db",
        settings={"state_folder": folder, "every_floor": 1},
        plugins=[("greeter", Greeter(asyncio.get_running_loop(), greeted))],
        discover=False,
    )
    await asyncio.to_thread(host.start)  # start and stop wait: not in the loop
    try:
        control = host.control()
        if not control.jobs():
            control.add({"key": "hello", "kind": "greeting", "every": "1s", "payload": {"name": "world"}})
        for _ in range(3):
            print(await asyncio.wait_for(greeted.get(), 30), flush=True)
    finally:
        await asyncio.to_thread(host.stop)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "embedded"))
