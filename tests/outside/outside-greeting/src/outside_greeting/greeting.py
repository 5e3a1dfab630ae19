"""The kind ``greeting``: what its payload says, and how it is done."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from schedcore.spec import Outcome, RunContext, failed, ok


class Greeting(BaseModel):
    """Who is greeted, and how often."""

    name: Annotated[str, Field(min_length=1, max_length=50)]
    times: Annotated[int, Field(ge=1, le=10)] = 1


class GreetingSettings(BaseModel):
    """The table ``[plugins.greeting]``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tone: Literal["plain", "warm"] = "plain"
    leave_alone: list[str] = Field(default_factory=list)
    token: str | None = None


class Greeter:
    """Says hello in the tone of the settings."""

    def __init__(self) -> None:
        self.settings = GreetingSettings()

    def greet(self, ctx: RunContext) -> Outcome:
        """One attempt."""
        word = "hello" if self.settings.tone == "plain" else "dear"
        for _ in range(ctx.payload.times):
            if ctx.stop.is_set():
                return failed("stopped")
            ctx.output.stdout(f"{word} {ctx.payload.name}\n".encode())
        return ok(f"{word} {ctx.payload.name}")
