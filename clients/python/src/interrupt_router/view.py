"""What people see: interrupts, runs, agents. Members that this version does not know are in ``raw``."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from .schema.decode import decode

V = TypeVar("V", bound="View")


@dataclass(frozen=True)
class View:
    """Something that the server shows."""

    raw: dict[str, Any] = field(default_factory=dict, repr=False, kw_only=True)
    """All of it, as JSON."""

    _renamed: ClassVar[dict[str, str]] = {}
    """Fields by the names that they have on the wire."""

    @classmethod
    def of_json(cls: type[V], body: dict[str, Any]) -> V:
        """The view of a response."""
        renamed = {name: body[wire] for wire, name in cls._renamed.items() if wire in body}
        return decode(cls, {**body, **renamed, "raw": body})


@dataclass(frozen=True)
class OfferedChoice:
    """An answer that a question offers."""

    value: str
    label: str
    description: str


@dataclass(frozen=True)
class ConfirmationItem:
    """Something that a question wants to have confirmed."""

    id: str
    prompt: str
    default_value: bool | None = None
    impact_if_no: str | None = None


@dataclass(frozen=True)
class OfferedRoute:
    """A place where the answer could go."""

    agent_type: str
    """Its name, as `Operator.decide` takes it in ``reroute_to``."""
    label: str
    allowed: bool
    """Whether it goes there unless a person sends it elsewhere."""


@dataclass(frozen=True)
class Claim:
    """A person who looks at a question now."""

    by: str
    until: datetime.datetime


@dataclass(frozen=True)
class MadeDecision(View):
    """The decision of an interrupt."""

    decision_id: str
    interrupt_id: str
    decision: str
    by: str
    at: datetime.datetime
    version: int
    target: str
    """Where the run goes on."""
    payload: Any = None
    rule_id: str | None = None


@dataclass(frozen=True)
class Interrupt(View):
    """A question, a stop or a pause."""

    id: str
    run_id: str
    agent_id: str
    agent_type: str
    type: str
    """``HUMAN_REVIEW``, ``AGENT_REVIEW``, ``PAUSE``, ``STOP``, ``PRUNE`` or ``BRANCH``."""
    state: str
    reason: str
    version: int
    """Counts its changes; a decision names the version that was seen."""
    context: str = ""
    choices: list[OfferedChoice] = field(default_factory=list)
    confirmations: list[ConfirmationItem] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    allowed_decisions: list[str] = field(default_factory=list)
    routes: list[OfferedRoute] = field(default_factory=list)
    requested_by: str = ""
    claimed_by: Claim | None = None
    decision: MadeDecision | None = None
    shown_digest: str | None = None
    """The digest of what was shown. `Operator.decide` sends it, so that it decides about what was read."""

    _renamed: ClassVar[dict[str, str]] = {
        "context_for_decision": "context",
        "confirmation_items": "confirmations",
    }


@dataclass(frozen=True)
class RunView(View):
    """A run."""

    run_id: str
    thread_id: str
    status: str
    version: int
    executing: bool
    goal: str | None = None
    reason: str | None = None
    checkpoint: int = 0
    open_interrupts: list[str] | None = None


@dataclass(frozen=True)
class AgentView(View):
    """An agent."""

    agent_id: str
    """Its address: the run's id and its id in the run."""
    node_id: str
    """Its id in the run."""
    run_id: str
    agent_type: str
    status: str
    takes_messages: bool = False
    open_interrupts: list[str] = field(default_factory=list)
    can_route_to: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class SentMessage(View):
    """A message that was accepted."""

    message: int
    """Its number."""
    agent_id: str


@dataclass(frozen=True)
class RequestFate(View):
    """What became of a supervisor's request that an agent interrupts itself."""

    event_id: str
    state: str
    target: str
    """Where the answer goes."""
    decision: MadeDecision | None = None


@dataclass(frozen=True)
class Caller(View):
    """Who a token speaks for."""

    name: str
    role: str
    version: str
    seq: str
    """The last position of the feed."""
