"""Questions to people, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
