"""What has come for a run while its worker was busy."""

from __future__ import annotations

from dataclasses import dataclass, field

from .schema.decode import Body, called
from .stop import Stop


@dataclass(frozen=True)
class InterruptRequest(Body):
    """A supervisor wants an agent to interrupt itself. The agent's next question takes it, and goes to its target."""

    interrupt_id: str
    agent_id: str
    reason: str = ""
    reroute_to: str | None = None
    """The route of the answer; without one it is that of the agent's kind."""


@dataclass(frozen=True)
class Message(Body):
    """What a person wrote to an agent."""

    position: int
    agent_id: str
    text: str
    sender: str = field(metadata=called("from"))
    """Who wrote it."""


@dataclass(frozen=True)
class Signals(Body):
    """All that has come."""

    stopping: bool = False
    """Whether the run was told to stop."""
    stops: list[Stop] = field(default_factory=list)
    asked: list[InterruptRequest] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    decided: list[str] = field(default_factory=list)
    """Keys of questions that are decided, and whose decision was not read yet."""
    cursor: int = 0
    """Counts what has come."""

    def stop_of(self, agent_id: str) -> Stop | None:
        """The hardest stop that concerns an agent."""
        concerning = [stop for stop in self.stops if stop.concerns(agent_id)]
        return max(concerning, key=lambda stop: stop.is_immediate, default=None)
