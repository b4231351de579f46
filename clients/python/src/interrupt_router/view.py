"""What people see: interrupts, runs, agents. Members that this version does not know are in ``raw``."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from .schema.decode import Body, called

if TYPE_CHECKING:
    from . import api

V = TypeVar("V", bound="View")


@dataclass(frozen=True)
class View(Body):
    """Something that the server shows."""

    raw: dict[str, Any] = field(default_factory=dict, repr=False, kw_only=True)
    """All of it, as JSON."""

    @classmethod
    def of_json(cls: type[V], body: Mapping[str, Any]) -> V:
        """The view of a response."""
        return replace(super().of_json(body), raw=dict(body))


@dataclass(frozen=True)
class OfferedChoice(Body):
    """An answer that a question offers."""

    value: str
    label: str
    description: str


@dataclass(frozen=True)
class ConfirmationItem(Body):
    """Something that a question wants to have confirmed."""

    id: str
    prompt: str
    default_value: bool | None = None
    impact_if_no: str | None = None


@dataclass(frozen=True)
class OfferedRoute(Body):
    """A place where the answer could go."""

    agent_type: str
    """Its name, as `Operator.decide` takes it in ``reroute_to``."""
    label: str
    allowed: bool
    """Whether it goes there unless a person sends it elsewhere."""


@dataclass(frozen=True)
class Claim(Body):
    """A person who looks at a question now."""

    by: str
    until: datetime.datetime


@dataclass(frozen=True)
class MadeDecision(View):
    """The decision of an interrupt."""

    decision_id: str
    interrupt_id: str
    decision: api.VerdictName
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
    type: api.TypeName
    state: api.InterruptStateName
    reason: str
    version: int
    """Counts its changes; a decision names the version that was seen."""
    context: str = field(default="", metadata=called("context_for_decision"))
    choices: list[OfferedChoice] = field(default_factory=list)
    confirmations: list[ConfirmationItem] = field(default_factory=list, metadata=called("confirmation_items"))
    answer_form: api.AnswerFormName | None = None
    """What an answer is, where the asker says so."""
    fields: dict[str, Any] = field(default_factory=dict)
    allowed_decisions: list[api.DecisionName] = field(default_factory=list)
    routes: list[OfferedRoute] = field(default_factory=list)
    requested_by: str = ""
    claimed_by: Claim | None = None
    decision: MadeDecision | None = None
    shown_digest: str | None = None
    """The digest of what was shown. `Operator.decide` sends it, so that it decides about what was read."""


@dataclass(frozen=True)
class RunView(View):
    """A run."""

    run_id: str
    thread_id: str
    status: api.RunStateName
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
    status: api.ActivityName
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
    state: api.InterruptStateName
    target: str
    """Where the answer goes."""
    decision: MadeDecision | None = None


@dataclass(frozen=True)
class Caller(View):
    """Who a token speaks for."""

    name: str
    role: api.RoleName
    version: str
    seq: str
    """The last position of the feed."""
