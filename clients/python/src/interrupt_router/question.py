"""Questions to people, and what becomes of them."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .schema.decode import Body

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

    @staticmethod
    def of(given: str | Choice) -> Choice:
        """A choice of which only the value may be given."""
        return given if isinstance(given, Choice) else Choice(given)

    def body(self) -> api.ChoiceBody:
        """The choice as a question has it."""
        return {"value": self.value, "label": self.label, "description": self.description or ""}

    def event(self) -> api.EventChoice:
        """The choice as a supervisor's event has it."""
        return {"value": self.value, "label": self.label or self.value, "description": self.description or ""}


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

    def event(self) -> api.EventConfirmation:
        """The confirmation as a supervisor's event has it."""
        return {"id": self.id, "prompt": self.prompt, "defaultValue": self.default, "impactIfNo": self.impact_if_no}


@dataclass(frozen=True)
class Decision(Body):
    """What was decided."""

    id: str
    decision: api.DecisionName
    by: str
    """The person's name, ``a standing rule of`` its maker, ``policy`` or ``deadline``."""
    at: datetime.datetime
    text: str | None = None
    """What the person wrote."""
    choices: list[str] = field(default_factory=list)
    """The values that were chosen."""
    confirmations: dict[str, bool] = field(default_factory=dict)
    """What was confirmed and what was not, by the confirmation's id."""


@dataclass(frozen=True)
class TakenRoute(Body):
    """The one route that the answer takes."""

    name: str
    """Its name, as people choose it."""
    field: str
    """The property in which the model gives the request."""
    rerouted: bool = False
    """Whether it is another one than that of the kind that asked."""


@dataclass(frozen=True)
class Question(Body):
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
