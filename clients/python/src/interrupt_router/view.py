"""What people see: interrupts, runs, agents. Members that this version does not know are in ``raw``."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .schema.decode import time_of

if TYPE_CHECKING:
    from . import api


@dataclass(frozen=True)
class View:
    """Something that the server shows."""

    raw: dict[str, Any] = field(default_factory=dict, repr=False, kw_only=True)
    """All of it, as JSON."""


@dataclass(frozen=True)
class OfferedChoice:
    """An answer that a question offers."""

    value: str
    label: str
    description: str

    @staticmethod
    def of_json(body: api.ChoiceView) -> OfferedChoice:
        """The view of a response."""
        return OfferedChoice(body["value"], body["label"], body["description"])


@dataclass(frozen=True)
class ConfirmationItem:
    """Something that a question wants to have confirmed."""

    id: str
    prompt: str
    default_value: bool | None = None
    impact_if_no: str | None = None

    @staticmethod
    def of_json(body: api.ConfirmationView) -> ConfirmationItem:
        """The view of a response."""
        return ConfirmationItem(body["id"], body["prompt"], body.get("default_value"), body.get("impact_if_no"))


@dataclass(frozen=True)
class OfferedRoute:
    """A place where the answer could go."""

    agent_type: str
    """Its name, as `Operator.decide` takes it in ``reroute_to``."""
    label: str
    allowed: bool
    """Whether it goes there unless a person sends it elsewhere."""

    @staticmethod
    def of_json(body: api.RouteView) -> OfferedRoute:
        """The view of a response."""
        return OfferedRoute(body["agent_type"], body["label"], body["allowed"])


@dataclass(frozen=True)
class Claim:
    """A person who looks at a question now."""

    by: str
    until: datetime.datetime

    @staticmethod
    def of_json(body: api.ClaimView) -> Claim:
        """The view of a response."""
        return Claim(body["by"], time_of(body["until"]))


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

    @staticmethod
    def of_json(body: api.DecisionView) -> MadeDecision:
        """The view of a response."""
        return MadeDecision(
            decision_id=body["decision_id"],
            interrupt_id=body["interrupt_id"],
            decision=body["decision"],
            by=body["by"],
            at=time_of(body["at"]),
            version=body["version"],
            target=body["target"],
            payload=body["payload"] if "payload" in body else None,  # noqa: SIM401 - any name fits `get` here
            rule_id=body.get("rule_id"),
            raw=dict(body),
        )


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
    context: str = ""
    choices: list[OfferedChoice] = field(default_factory=list)
    confirmations: list[ConfirmationItem] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    allowed_decisions: list[api.DecisionName] = field(default_factory=list)
    routes: list[OfferedRoute] = field(default_factory=list)
    requested_by: str = ""
    claimed_by: Claim | None = None
    decision: MadeDecision | None = None
    shown_digest: str | None = None
    """The digest of what was shown. `Operator.decide` sends it, so that it decides about what was read."""

    @staticmethod
    def of_json(body: api.InterruptView) -> Interrupt:
        """The view of a response."""
        claimed_by, decision = body.get("claimed_by"), body.get("decision")
        return Interrupt(
            id=body["id"],
            run_id=body["run_id"],
            agent_id=body["agent_id"],
            agent_type=body["agent_type"],
            type=body["type"],
            state=body["state"],
            reason=body["reason"],
            version=body["version"],
            context=body["context_for_decision"],
            choices=[OfferedChoice.of_json(choice) for choice in body["choices"]],
            confirmations=[ConfirmationItem.of_json(item) for item in body["confirmation_items"]],
            fields=body["fields"],
            allowed_decisions=body["allowed_decisions"],
            routes=[OfferedRoute.of_json(route) for route in body["routes"]],
            requested_by=body["requested_by"],
            claimed_by=Claim.of_json(claimed_by) if claimed_by else None,
            decision=MadeDecision.of_json(decision) if decision else None,
            shown_digest=body.get("shown_digest"),
            raw=dict(body),
        )


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

    @staticmethod
    def of_json(body: api.RunView) -> RunView:
        """The view of a response."""
        return RunView(
            run_id=body["run_id"],
            thread_id=body["thread_id"],
            status=body["status"],
            version=body["version"],
            executing=body["executing"],
            goal=body.get("goal"),
            reason=body.get("reason"),
            checkpoint=body["checkpoint"],
            open_interrupts=body.get("open_interrupts"),
            raw=dict(body),
        )


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

    @staticmethod
    def of_json(body: api.AgentView) -> AgentView:
        """The view of a response."""
        return AgentView(
            agent_id=body["agent_id"],
            node_id=body["node_id"],
            run_id=body["run_id"],
            agent_type=body["agent_type"],
            status=body["status"],
            takes_messages=body["takes_messages"],
            open_interrupts=body["open_interrupts"],
            can_route_to=body["can_route_to"],
            raw=dict(body),
        )


@dataclass(frozen=True)
class SentMessage(View):
    """A message that was accepted."""

    message: int
    """Its number."""
    agent_id: str

    @staticmethod
    def of_json(body: api.SentView) -> SentMessage:
        """The view of a response."""
        return SentMessage(body["message"], body["agent_id"], raw=dict(body))


@dataclass(frozen=True)
class RequestFate(View):
    """What became of a supervisor's request that an agent interrupts itself."""

    event_id: str
    state: api.InterruptStateName
    target: str
    """Where the answer goes."""
    decision: MadeDecision | None = None

    @staticmethod
    def of_json(body: api.FateView) -> RequestFate:
        """The view of a response."""
        decision = body.get("decision")
        return RequestFate(
            event_id=body["event_id"],
            state=body["state"],
            target=body["target"],
            decision=MadeDecision.of_json(decision) if decision else None,
            raw=dict(body),
        )


@dataclass(frozen=True)
class Caller(View):
    """Who a token speaks for."""

    name: str
    role: api.RoleName
    version: str
    seq: str
    """The last position of the feed."""

    @staticmethod
    def of_json(body: api.WhoAmI) -> Caller:
        """The view of a response."""
        return Caller(body["name"], body["role"], body["version"], body["seq"], raw=dict(body))
