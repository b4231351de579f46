"""How LangGraph's interrupts become questions, for both adapters of LangGraph."""

from __future__ import annotations

from typing import Any, Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.types import Interrupt, StateSnapshot

from interrupt_router import Decision

from ._questions import field_names, key_of, to_json

RUN = "interrupt_router_run"
"""The metadata of checkpoints that names the router's run. It shows whether this run has already started the graph."""


class Answered(Protocol):
    """A decision and its request: `interrupt_router.Routed` or that of `interrupt_router.sync`."""

    @property
    def decision(self) -> Decision: ...

    @property
    def request(self) -> Any: ...


def default_answer(_: Interrupt[Any], routed: Answered) -> Any:
    """What `interrupt()` returns: the request, the choice, the person's text, or whether the person approved."""
    decision = routed.decision
    if routed.request is not None:
        return to_json(routed.request)
    if decision.choices:
        return decision.choices[0] if len(decision.choices) == 1 else decision.choices
    if decision.decision in ("respond", "edit") and decision.text is not None:
        return decision.text
    return decision.decision in ("approve", "edit", "respond")


def question_of(interrupt: Interrupt[Any]) -> dict[str, Any]:
    """The arguments of `Agent.ask` for the value of an `interrupt()`: a text, or a dict with a text and choices."""
    value = to_json(interrupt.value)
    if not isinstance(value, dict):
        return {"question": value if isinstance(value, str) else f"Continue with {value}?"}
    asked = next((name for name in ("question", "query", "task", "message") if isinstance(value.get(name), str)), None)
    choices = value.get("choices") or value.get("options") or []
    has_choices = isinstance(choices, list) and all(isinstance(choice, str) for choice in choices)
    taken = {asked, *(("choices", "options") if has_choices else ())}
    return {
        "question": value[asked] if asked else "Continue?",
        "choices": choices if has_choices else [],
        "fields": field_names({name: member for name, member in value.items() if name not in taken}),
    }


def with_run(config: RunnableConfig, run_id: str) -> RunnableConfig:
    """The config that writes the run's id into each checkpoint."""
    return {**config, "metadata": {**config.get("metadata", {}), RUN: run_id}}


def is_new(state: StateSnapshot, run_id: str) -> bool:
    """Whether the graph has no checkpoint of this run yet."""
    return (state.metadata or {}).get(RUN) != run_id


def questions(state: StateSnapshot) -> list[tuple[str, Interrupt[Any]]]:
    """The interrupts that wait for an answer, each with its node."""
    open_ids = {interrupt.id for interrupt in state.interrupts}
    return [(task.name, it) for task in state.tasks for it in task.interrupts if it.id in open_ids]


def question_key(config: RunnableConfig, interrupt: Interrupt[Any]) -> str:
    """The key of an interrupt's question: its thread's id and its own."""
    return key_of(str(config["configurable"]["thread_id"]), interrupt.id)
