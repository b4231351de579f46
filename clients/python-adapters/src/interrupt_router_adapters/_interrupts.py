"""How LangGraph's interrupts become questions, for both adapters of LangGraph."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph.errors import GraphInterrupt
from langgraph.types import Interrupt, StateSnapshot

from interrupt_router import Answered, Approved, Decided, RouterError, sync

from ._questions import field_names, has_lost_edit, key_of, to_json

RUN = "interrupt_router_run"
"""The metadata of checkpoints that names the router's run. It shows whether this run has already started the graph."""

_OPEN = re.compile(r"(what|which|who|whom|whose|where|when|how)\b(?! (about|if)\b)[^.,:;!?\n]*\?", re.IGNORECASE)
"""A single question for which neither yes nor no is an answer. Of another text it can't be known whether it proposes."""


def default_answer(_: Interrupt[Any], decided: Decided | sync.Decided) -> Any:
    """What `interrupt()` returns: the request, the choice, the person's text, or whether the person approved."""
    match decided:
        case Approved() | sync.Approved():
            return not has_lost_edit(decided) if decided.request is None else to_json(decided.request)
        case Answered(choices=(choice,)) | sync.Answered(choices=(choice,)):
            return choice
        case Answered() | sync.Answered():
            return list(decided.choices) or decided.text or False
        case _:
            return False


class Concurrent(BaseCallbackHandler):
    """Sees which tools of one task ask while others of it run: LangGraph gives their answers to whichever asks first."""

    run_inline = True

    def __init__(self) -> None:
        self._running: dict[UUID | None, dict[UUID, str]] = {}
        self._asked: set[UUID | None] = set()
        self._mixed: dict[UUID | None, str] = {}

    def on_tool_start(
        self, serialized: Any, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **__: Any
    ) -> None:
        """A tool of the task `parent_run_id` starts."""
        running = self._running.setdefault(parent_run_id, {})
        name = str((serialized or {}).get("name"))
        if running or parent_run_id in self._asked:
            self._mixed[parent_run_id] = name
        running[run_id] = name

    def on_tool_end(self, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **__: Any) -> None:
        """It has ended."""
        self._running.get(parent_run_id, {}).pop(run_id, None)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **_: Any) -> None:
        """It has failed, or asks."""
        self._running.get(parent_run_id, {}).pop(run_id, None)
        if isinstance(error, GraphInterrupt):
            self._asked.add(parent_run_id)

    def check(self) -> None:
        """Raises where an answer could reach another tool than the one that asked."""
        for task in self._asked & self._mixed.keys():
            raise RouterError(
                f"the tool {self._mixed[task]} ran beside another one in a node that asks, and LangGraph would give the "
                "answer to whichever of them asks first",
                hint="send each call to the node with a `Send` of its own, as `create_agent` does",
            )


def _taken(accept: bool, respond: bool) -> str | None:
    """What an answer is, by what is taken back: a plain yes, and words."""
    return (None if accept else "words") if respond else "yes_or_no"


def question_of(interrupt: Interrupt[Any]) -> dict[str, Any]:
    """The arguments of `Agent.ask` for the value of an `interrupt()`: a text, or a dict with a text and choices."""
    match to_json(interrupt.value):
        case [dict() as value] | (dict() as value):  # a `HumanInterrupt` is handed over in a list
            pass
        case given:
            value = {"question": given if isinstance(given, str) else f"Continue with {given}?"}
    asked = next((name for name in ("question", "query", "task", "message") if isinstance(value.get(name), str)), None)
    choices = value.get("choices") or value.get("options") or []
    has_choices = isinstance(choices, list) and all(isinstance(choice, str) for choice in choices)
    taken = {asked, *(("choices", "options") if has_choices else ())}
    fields = {name: member for name, member in value.items() if name not in taken}
    match fields:
        case {"answer_form": "one_of" | "any_of" | "words" | "yes_or_no" as form}:
            del fields["answer_form"]
        case {"config": {"allow_accept": accept, "allow_respond": respond}}:
            form = _taken(accept, respond)
        case {"review_configs": [{"allowed_decisions": [*names]}]}:
            form = _taken("approve" in names, "respond" in names)
        case _:
            is_open = not fields and asked is not None and _OPEN.fullmatch(value[asked].strip())
            form = "one_of" if has_choices and choices else "words" if is_open else None
    return {
        "question": value[asked] if asked else "Continue?",
        "choices": choices if has_choices else [],
        "answer_form": form,
        "fields": field_names(fields),
    }


def with_run(config: RunnableConfig, run_id: str) -> RunnableConfig:
    """The config that writes the run's id into each checkpoint."""
    return merge_configs(config, {"metadata": {RUN: run_id}})


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
