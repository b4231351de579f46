"""Questions to people, and what becomes of them."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Choice:
    """An answer to choose."""

    value: str
    """What is recorded."""
    label: str | None = None
    """What people read; the value by default."""
    description: str | None = None
    """What it means."""


@dataclass(frozen=True)
class Confirmation:
    """Something to confirm."""

    id: str
    """Names it in the decision."""
    prompt: str
    """What people read."""
    default: bool | None = None
    """What is assumed when nothing is said."""
    impact_if_no: str | None = None
    """What a refusal leads to."""


@dataclass(frozen=True)
class Decision:
    """What was decided."""

    id: str
    decision: str
    """``approve``, ``edit``, ``reject``, ``respond``, ``ignore``, ``reroute``, ``cancel`` or ``modify_plan``."""
    by: str
    """The person's name, ``policy`` or ``deadline``."""
    at: datetime.datetime
    text: str | None = None
    """What the person wrote."""
    choices: list[str] = field(default_factory=list)
    """The values that were chosen."""
    confirmations: dict[str, bool] = field(default_factory=dict)
    """What was confirmed and what was not, by the confirmation's id."""


@dataclass(frozen=True)
class TakenRoute:
    """The one route that the answer takes."""

    name: str
    """Its name, as people choose it."""
    field: str
    """The property in which the model gives the request."""
    rerouted: bool = False
    """Whether it is another one than that of the kind that asked."""


@dataclass(frozen=True)
class Question:
    """A question as the server has it."""

    key: str
    interrupt_id: str
    agent_id: str
    kind: str
    state: str
    """``open``, ``decided``, ``expired`` or ``withdrawn``."""
    reason: str
    decision: Decision | None = None
    route: TakenRoute | None = None
    request: Any = None
    """The request of the route, as JSON, once it is filled in."""
    corrections_left: int = 0
    """How many more answers of a model are read before a person is asked."""
    asked: str | None = None
    """The key of the question that asks a person for the request."""


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
) -> dict[str, Any]:
    """The body that asks a question; what is not said is left out."""
    said = {
        "context": context,
        "choices": [_said(Choice(choice) if isinstance(choice, str) else choice) for choice in choices],
        "confirmations": [_said(item) for item in confirmations],
        "fields": dict(fields or {}),
        "deadline_ms": round(deadline.total_seconds() * 1000) if deadline else None,
    }
    return {
        "agent_id": agent_id,
        "kind": kind,
        "reason": reason,
        **{key: value for key, value in said.items() if value},
    }


def _said(item: Choice | Confirmation) -> dict[str, Any]:
    return {key: value for key, value in dataclasses.asdict(item).items() if value is not None}
