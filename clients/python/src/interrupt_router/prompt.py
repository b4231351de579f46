"""What a model is told about the request that it fills in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import FieldError
from .view import Decision, Question


class Prompt:
    """The messages of one conversation: the task, the answers that were rejected, and why."""

    def __init__(self, field: str, question: Question, decision: Decision) -> None:
        self.messages: list[dict[str, str]] = [{"role": "user", "content": _task(field, question, decision)}]
        """The messages so far, each with its ``role`` and ``content``."""

    def reject(self, answer: str | Mapping[str, Any], errors: Sequence[FieldError]) -> None:
        """Adds an answer that does not fit, and what is wrong with it."""
        text = answer if isinstance(answer, str) else json.dumps(dict(answer), ensure_ascii=False)
        mistakes = "\n".join(f"- {error}" for error in errors)
        self.messages += [
            {"role": "assistant", "content": text},
            {"role": "user", "content": f"That does not fit the schema:\n{mistakes}\nAnswer again, with JSON only."},
        ]


def _task(field: str, question: Question, decision: Decision) -> str:
    lines = [
        f"Fill in the request `{field}`. Answer with one JSON object that has this property and no other.",
        f"The agent {question.kind} asked: {question.reason}",
        f"{decision.by} decided: {decision.decision}",
    ]
    if decision.choices:
        lines.append(f"Chosen: {', '.join(decision.choices)}")
    for item, confirmed in decision.confirmations.items():
        lines.append(f"Confirmed `{item}`: {'yes' if confirmed else 'no'}")
    if decision.text:
        lines.append(f"In their words: {decision.text}")
    return "\n".join(lines)
