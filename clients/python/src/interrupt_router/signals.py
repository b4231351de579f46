"""What has come for a run while its worker was busy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .stop import Stop

if TYPE_CHECKING:
    from . import api


@dataclass(frozen=True)
class InterruptRequest:
    """A supervisor wants an agent to interrupt itself. The agent's next question takes it, and goes to its target."""

    interrupt_id: str
    agent_id: str
    reason: str = ""
    reroute_to: str | None = None
    """The route of the answer; without one it is that of the agent's kind."""

    @staticmethod
    def of_json(body: api.AskedAgentView) -> InterruptRequest:
        """The request of a response."""
        return InterruptRequest(body["interrupt_id"], body["agent_id"], body["reason"], body.get("reroute_to"))


@dataclass(frozen=True)
class Message:
    """What a person wrote to an agent."""

    position: int
    agent_id: str
    text: str
    sender: str
    """Who wrote it."""

    @staticmethod
    def of_json(body: api.WorkMessageView) -> Message:
        """The message of a response."""
        return Message(body["position"], body["agent_id"], body["text"], body["from"])


@dataclass(frozen=True)
class Signals:
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

    @staticmethod
    def of_json(body: api.SignalsView) -> Signals:
        """The signals of a response."""
        return Signals(
            stopping=body["stopping"],
            stops=[Stop.of_json(stop) for stop in body["stops"]],
            asked=[InterruptRequest.of_json(request) for request in body["asked"]],
            messages=[Message.of_json(message) for message in body["messages"]],
            decided=body["decided"],
            cursor=body["cursor"],
        )

    def stop_of(self, agent_id: str) -> Stop | None:
        """The hardest stop that concerns an agent."""
        concerning = [stop for stop in self.stops if stop.concerns(agent_id)]
        return max(concerning, key=lambda stop: stop.is_immediate, default=None)
