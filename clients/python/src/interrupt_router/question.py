"""Questions to people, and what becomes of them."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .schema.decode import time_of

if TYPE_CHECKING:
    from . import api


@dataclass(frozen=True)
class Choice:
    """An answer to choose."""

    value: str
    """What is recorded."""
    label: str | None = None
    """What people read; the value by default."""
    description: str | None = None
    """What it means."""

    def body(self) -> api.ChoiceBody:
        """The choice as a question has it."""
        body: api.ChoiceBody = {"value": self.value, "label": self.label}
        if self.description is not None:
            body["description"] = self.description
        return body


@dataclass(frozen=True)
class Confirmation:
    """Something to confirm."""

    id: str
    """Names it in the decision."""
    prompt: str
    """What people read."""
    default: bool | None = None
    """What is suggested to the person."""
    impact_if_no: str | None = None
    """What a refusal leads to."""

    def body(self) -> api.ConfirmationBody:
        """The confirmation as a question has it."""
        return {"id": self.id, "prompt": self.prompt, "default": self.default, "impact_if_no": self.impact_if_no}


@dataclass(frozen=True)
class Decision:
    """What was decided."""

    id: str
    decision: api.DecisionName
    by: str
    """The person's name, ``policy`` or ``deadline``."""
    at: datetime.datetime
    text: str | None = None
    """What the person wrote."""
    choices: list[str] = field(default_factory=list)
    """The values that were chosen."""
    confirmations: dict[str, bool] = field(default_factory=dict)
    """What was confirmed and what was not, by the confirmation's id."""

    @staticmethod
    def of_json(body: api.WorkDecisionView) -> Decision:
        """The decision of a response."""
        return Decision(
            id=body["id"],
            decision=body["decision"],
            by=body["by"],
            at=time_of(body["at"]),
            text=body.get("text"),
            choices=body["choices"],
            confirmations=body["confirmations"],
        )


@dataclass(frozen=True)
class TakenRoute:
    """The one route that the answer takes."""

    name: str
    """Its name, as people choose it."""
    field: str
    """The property in which the model gives the request."""
    rerouted: bool = False
    """Whether it is another one than that of the kind that asked."""

    @staticmethod
    def of_json(body: api.TakenRouteView) -> TakenRoute:
        """The route of a response."""
        return TakenRoute(body["name"], body["field"], body["rerouted"])


@dataclass(frozen=True)
class Question:
    """A question as the server has it."""

    key: str
    interrupt_id: str
    agent_id: str
    kind: str
    state: api.QuestionStateName
    reason: str
    decided_as: api.DecidedAsName | None = None
    """What became of it, once it is over."""
    decision: Decision | None = None
    route: TakenRoute | None = None
    request: Any = None
    """The request of the route, as JSON, once it is filled in."""
    corrections_left: int = 0
    """How many more answers of a model are read before a person is asked."""
    asked: str | None = None
    """The key of the question that asks a person for the request."""

    @staticmethod
    def of_json(body: api.WorkQuestionView) -> Question:
        """The question of a response."""
        decision, route = body.get("decision"), body.get("route")
        return Question(
            key=body["key"],
            interrupt_id=body["interrupt_id"],
            agent_id=body["agent_id"],
            kind=body["kind"],
            state=body["state"],
            reason=body["reason"],
            decided_as=body.get("decided_as"),
            decision=Decision.of_json(decision) if decision else None,
            route=TakenRoute.of_json(route) if route else None,
            request=body["request"] if "request" in body else None,  # noqa: SIM401 - any name fits `get` here
            corrections_left=body["corrections_left"],
            asked=body.get("asked"),
        )


def question_body(
    agent_id: str,
    kind: str,
    reason: str,
    *,
    context: str | None,
    choices: Iterable[str | Choice],
    confirmations: Iterable[Confirmation],
    fields: Mapping[str, Any] | None,
    deadline: datetime.timedelta | None,
) -> api.QuestionBody:
    """The body that asks a question."""
    body: api.QuestionBody = {
        "agent_id": agent_id,
        "kind": kind,
        "reason": reason,
        "choices": [(Choice(choice) if isinstance(choice, str) else choice).body() for choice in choices],
        "confirmations": [item.body() for item in confirmations],
        "fields": dict(fields or {}),
        "deadline_ms": round(deadline.total_seconds() * 1000) if deadline else None,
    }
    if context is not None:
        body["context"] = context
    return body
