"""What the adapters share: keys of questions, checkpoints, and the approval of a tool call."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import re
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar
from weakref import WeakKeyDictionary

from pydantic_core import to_jsonable_python

from interrupt_router import (
    Agent,
    Answered,
    AnswerRejected,
    Approved,
    Decided,
    Declined,
    Expired,
    IdempotencyConflict,
    Rerouted,
    RouterError,
    Run,
    Stopped,
    TakenRoute,
    Withdrawn,
    sync,
)

T = TypeVar("T")

_VALID_KEY = re.compile(r"[A-Za-z0-9_.:~-]{1,150}")
# Every question may have these members. The server refuses a field with the same name.
_RESERVED = {"type", "reason", "choices", "confirmationItems", "contextForDecision", "answerForm"}
_RESERVED |= {"toolCall", "fills", "request", "rerouteToAgentType"}


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


class Slots:
    """Where the agents of a framework keep their states in the checkpoints of a run: each has a slot of its own."""

    _of_runs: ClassVar[WeakKeyDictionary[Run, Slots]] = WeakKeyDictionary()

    def __init__(self) -> None:
        self._taken: list[str] = []
        self._states: dict[str, Any] = {}

    @staticmethod
    async def take(run: Run, name: str, key: str | None) -> Slot:
        """A slot, by its key, or the next one where the code gives none. Code that runs again takes the same one."""
        slots = Slots._of_runs.get(run)
        if slots is None:
            kept = await run.last_checkpoint()
            slots = Slots._of_runs.setdefault(run, Slots())
            if kept is not None and isinstance(kept.state, dict):
                slots._states = {**kept.state, **slots._states}
        number = sum(taken.partition(":")[0] == name for taken in slots._taken) + 1
        # The first one is called as before there were others.
        member = f"{name}:{key or number}" if key or number > 1 else name
        if member in slots._taken:
            raise IdempotencyConflict(f"two agents of the run have the key `{key}`", hint="give each a key of its own")
        slots._taken.append(member)
        return Slot(run, slots._states, member)


@dataclass(frozen=True)
class Slot:
    """The place of one agent."""

    run: Run
    states: dict[str, Any]
    member: str

    @property
    def state(self) -> Any:
        """What was kept last, also by an earlier worker."""
        return self.states.get(self.member)

    async def keep(self, state: Any, reason: str) -> None:
        """Keeps a state, beside those of the other agents."""
        self.states[self.member] = state
        await self.run.checkpoint(self.states, reason)

    def key_of(self, *parts: str) -> str:
        """The key of a question of this agent."""
        _, _, slot = self.member.partition(":")
        return key_of("tool", *([slot] if slot else []), *parts)


@dataclass(frozen=True)
class Verdict:
    """What a person decided about a tool call."""

    approved: bool
    message: str = ""
    """What the model reads when the call is not made; else what the person said with the yes."""
    arguments: dict[str, Any] | None = None
    """The arguments that the person gave instead of the model's."""
    by: str | None = None
    """Who decided."""


def parse_arguments(arguments: str | None) -> Any:
    """The arguments of a tool call as JSON, or as they are when they aren't JSON."""
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments


async def ask_approval(run: Run, kinds: Mapping[str, str], key: str, tool: str, arguments: Any) -> Verdict:
    """Asks once whether a tool may be called with these arguments, and waits for the decision."""
    agent = await agent_for(run, tool, kinds)
    fields = {"tool": tool, "arguments": arguments}
    decided = await agent.ask(f"Call the tool {tool}?", key=key, fields=fields, answer_form="yes_or_no")
    return replace(await _verdict(decided, arguments), by=decided.decision.by if decided.decision else None)


async def _verdict(decided: Decided, arguments: Any) -> Verdict:
    match decided:
        case Approved():
            return await _approval(decided, arguments)
        case Answered(text=said):
            return Verdict(False, said or "Not called.")
        case Rerouted(route=TakenRoute(name=name)):
            return Verdict(False, decided.text or f"Not called. Continue with {name} instead.")
        case Rerouted(text=said) | Declined(text=said):
            return Verdict(False, said or "The tool call was rejected.")
        case Expired():
            return Verdict(False, "Not called: no person answered in time.")
        case Withdrawn():
            return Verdict(False, "Not called: the question was withdrawn.")


async def _approval(approved: Approved, arguments: Any) -> Verdict:
    if approved.request is not None:
        edited = to_json(approved.request)
        return Verdict(True, approved.text or "", None if edited == arguments else edited)
    if has_lost_edit(approved):
        return Verdict(False, approved.text or "Not called: a person changed it in a way that cannot be carried out.")
    if approved.route is not None:
        # The arguments are the request of the route, so the server checks them against its schema.
        try:
            await approved.submit({approved.route.field: arguments})
        except AnswerRejected as rejected:
            errors = "; ".join(map(str, rejected.errors))
            return Verdict(False, f"The arguments are invalid: {errors}.{said(approved.text)}")
    return Verdict(True, approved.text or "")


def said(text: str | None) -> str:
    """What a person said, behind what else the model reads."""
    return f" In their words: {text}" if text else ""


def has_lost_edit(approved: Approved | sync.Approved) -> bool:
    """Whether a person changed what cannot be changed, as the kind has no route. Then it is no yes to what was asked."""
    return approved.decision.decision == "edit" and approved.request is None
