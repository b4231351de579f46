"""What the adapters share: keys of questions, checkpoints, and the approval of a tool call."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import re
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic_core import to_jsonable_python

from interrupt_router import Agent, AnswerRejected, Decision, Routed, RouterError, Run, Stopped

T = TypeVar("T")

_VALID_KEY = re.compile(r"[A-Za-z0-9_.:~-]{1,150}")
# Every question has these members. The server refuses a field with the same name.
_RESERVED = frozenset({"type", "reason", "choices", "confirmation_items", "context_for_decision"})


def key_of(*parts: str) -> str:
    """The key of a question. The same parts always give the same key."""
    joined = ":".join(parts)
    return joined if _VALID_KEY.fullmatch(joined) else hashlib.sha256("\0".join(parts).encode()).hexdigest()


def to_json(value: Any) -> Any:
    """A value as JSON. An object that JSON can't express becomes its text."""
    return to_jsonable_python(value, serialize_unknown=True)


def field_names(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields with names that the server accepts."""
    return {f"{name}_" if name in _RESERVED else name: value for name, value in fields.items()}


async def agent_for(run: Run, name: str, kinds: Mapping[str, str]) -> Agent:
    """The agent that asks on behalf of a node or a tool: one of the kind that `kinds` names, or the run's own."""
    kind = kinds.get(name)
    return run.root if kind is None else await run.agent(kind)


async def together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Waits for all of it at once. The first exception cancels the rest."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def is_stopping(run: Run) -> bool:
    """Whether the run must not go on."""
    try:
        run.root.check()
    except (Stopped, RouterError):
        return True
    return False


async def until_stopping(run: Run) -> None:
    """Waits until the run must not go on."""
    with contextlib.suppress(Stopped, RouterError):
        await run.watch.guard(run.root.id, asyncio.Event().wait())


@dataclass(frozen=True)
class ToolCall:
    """A tool call that needs an approval."""

    id: str
    name: str
    arguments: Any
    """The arguments as JSON."""


@dataclass(frozen=True)
class Verdict:
    """What a person decided about a tool call."""

    decision: Decision
    approved: bool
    message: str = ""
    """What the model reads when the call is rejected."""
    arguments: dict[str, Any] | None = None
    """The arguments that the person gave instead of the model's."""


def parse_arguments(arguments: str | None) -> Any:
    """The arguments of a tool call as JSON, or as they are when they aren't JSON."""
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments


async def ask_approval(run: Run, call: ToolCall, kinds: Mapping[str, str]) -> Verdict:
    """Asks once whether a tool may be called, and waits for the decision."""
    agent = await agent_for(run, call.name, kinds)
    fields = {"tool": call.name, "arguments": call.arguments}
    routed = await agent.ask(f"Call the tool {call.name}?", key=key_of("tool", call.id), fields=fields)
    return await _verdict(routed, call)


async def _verdict(routed: Routed, call: ToolCall) -> Verdict:
    decision = routed.decision
    if routed.route is not None and routed.route.rerouted:
        return Verdict(decision, False, _message(decision, f"Not called. Continue with {routed.route.name} instead."))
    if decision.decision == "respond":
        return Verdict(decision, False, _message(decision, "Not called."))
    if decision.decision not in ("approve", "edit"):
        return Verdict(decision, False, _message(decision, "The tool call was rejected."))
    if routed.request is not None:
        edited = to_json(routed.request)
        return Verdict(decision, True, arguments=None if edited == call.arguments else edited)
    if routed.route is not None:
        # The arguments are the request of the route, so the server checks them against its schema.
        try:
            await routed.submit({routed.route.field: call.arguments})
        except AnswerRejected as rejected:
            return Verdict(decision, False, f"The arguments are invalid: {'; '.join(map(str, rejected.errors))}")
    return Verdict(decision, True)


def _message(decision: Decision, default: str) -> str:
    return decision.text or default
