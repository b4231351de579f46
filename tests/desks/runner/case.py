"""A case, as its file tells it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

MEMBERS = {"case", "ticket", "model", "policy", "for", "steps"}


@dataclass(frozen=True)
class Case:
    """What is done with one ticket, and what is seen of it."""

    file: str
    """The name of its file, without the ending: what a desk that cannot pass it names."""
    name: str
    title: str
    ticket: Mapping[str, Any]
    model: Mapping[str, list[Any]]
    """What the model answers, by the field of the route; where nothing is said, its answer fits."""
    steps: list[dict[str, Any]] = field(default_factory=list)
    policy: str | None = None
    """How the server treats questions, as TOML."""

    @property
    def is_large(self) -> bool:
        """Whether its order costs so much that a person is asked before it is paid back."""
        return bool(self.ticket.get("large", True))

    @property
    def is_alone(self) -> bool:
        """Whether it needs a desk of its own, which it kills, or which has a policy."""
        return self.policy is not None or any(next(iter(step)) == "kill" for step in self.steps)


def cases(folder: Path) -> Iterator[Case]:
    """All cases. One with ``for`` stands for as many as it lists, with the words of each in place of ``<name>``."""
    for path in sorted(folder.glob("*.yaml")):
        told = yaml.safe_load(path.read_text())
        if unknown := set(told) - MEMBERS:
            raise ValueError(f"{path}: {sorted(unknown)} is no part of a case; these are: {sorted(MEMBERS)}")
        for words in told.get("for", [{}]):
            these = filled({"case": told["case"], "steps": told["steps"]}, words)
            name = re.sub(r"[^a-z0-9]+", "-", "-".join([path.stem, *map(str, words.values())]).lower())
            parts = (these["case"], told.get("ticket", {}), told.get("model", {}), these["steps"], told.get("policy"))
            yield Case(path.stem, name, *parts)


def filled(value: Any, words: Mapping[str, str]) -> Any:
    """The value with the word of each name in place of ``<name>``."""
    if isinstance(value, dict):
        return {name: filled(member, words) for name, member in value.items()}
    if isinstance(value, list):
        return [filled(member, words) for member in value]
    if isinstance(value, str):
        for name, word in words.items():
            value = value.replace(f"<{name}>", word)
    return value
