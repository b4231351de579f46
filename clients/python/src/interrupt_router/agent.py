"""An agent of a run: asks people, does effects, reads what people write to it."""

from __future__ import annotations

import datetime
import logging
import math
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload
from urllib.parse import quote

from .decided import Decided, decided
from .errors import EffectUnkept, EffectUnknown, RouterError
from .invoke import check, digest, invoke
from .kept import UNKEPT, Unkeepable, keep, unkept
from .lease import Lease
from .question import Choice, Confirmation
from .stop import Parked, Stopped
from .transport import LONGEST_WAIT
from .uncancelled import to_its_end
from .view import InterruptRequest, Message, Question, Stop
from .waiting import waiting_for

if TYPE_CHECKING:
    from . import api
    from .run import Run

T = TypeVar("T")
Function: TypeAlias = Callable[..., Any]
Lookup: TypeAlias = Function | None

MOMENT = 1.0
"""How long a run that should be parked waits for an effect under way, in seconds, before it looks again."""


class Agent:
    """An agent of a run that this worker owns.

    Each call that has a key names a place in your code: it asks and does things once, however often the code runs again
    after a crash. Every call raises `Stopped` when the agent or its run was told to stop.
    """

    def __init__(self, run: Run, agent_id: str, kind: str) -> None:
        self.run = run
        """Its run."""
        self.id = agent_id
        """Its id: ``root``, or below it ``root/refunds``."""
        self.kind = kind
        """Its kind."""
        self._ended_by: Stop | None = None

    @property
    def lease(self) -> Lease:
        """The lease of its run."""
        return self.run.lease

    def check(self) -> None:
        """Raises `Stopped` where the agent was told to stop, and `LeaseLost` where another worker has the run."""
        if self._ended_by is not None:
            raise Stopped(self._ended_by)
        self.run.watch.check(self.id)

    async def open(self) -> None:
        """Tells people that it works. One that was stopped before a crash is stopped again by its first call."""
        if await self.report() in ("pruned", "cancelled"):
            self._ended_by = Stop("", "PRUNE", "graceful", "agent", self.id, "it was stopped before")

    def agent(self, kind: str, name: str | None = None) -> OpeningAgent:
        """Starts an agent below this one; see `Run.agent`."""
        return OpeningAgent(Agent(self.run, f"{self.id}/{name or slug(kind)}", kind))

    async def ask(
        self,
        question: str,
        *,
        key: str,
        context: str | None = None,
        choices: Sequence[str | Choice] = (),
        confirmations: Sequence[Confirmation] = (),
        answer_form: api.AnswerFormName | None = None,
        fields: Mapping[str, Any] | None = None,
        deadline: datetime.timedelta | None = None,
    ) -> Decided:
        """Asks a person, once, and waits for the decision. A rule or the policy may decide without a person.

        Look with `match` at what comes back before anything is done: only `Approved` says yes to what was asked.

        `answer_form` says what an answer is: exactly one of the choices, any of them, words, or yes or no. People are
        offered what fits, and nothing else is taken.

        Asked again with the same key, it is the question that is there; another question, agent, choice or field under a
        key that was used raises `IdempotencyConflict`. It is `Expired` when nobody decides before the
        `deadline`, and `Withdrawn` after `withdraw`.
        """
        self.check()
        body: api.QuestionBody = {
            "agent_id": self.id,
            "kind": self.kind,
            "reason": question,
            "context": context or "",
            "choices": [Choice.of(choice).body() for choice in choices],
            "confirmations": [confirmation.body() for confirmation in confirmations],
            "fields": dict(fields or {}),
            "deadline_ms": round(deadline.total_seconds() * 1000) if deadline else None,
        }
        if answer_form is not None:
            body["answer_form"] = answer_form
        return decided(self, await self.wait_for(key, body))

    async def withdraw(self, key: str) -> None:
        """Withdraws a question that need not be answered any more."""
        await self.lease.delete(self.question_path(key))
        self.run.watch.unpark(key)

    async def wait_for(self, key: str, body: api.QuestionBody | None = None) -> Question:
        """Waits until a question is decided, expired or withdrawn. The request that asks it waits, too."""
        asked = f": {body['reason']}" if body else ""
        # A worker with many runs waits for people all the time.
        level = logging.WARNING if math.isinf(self.run.park_after) else logging.INFO
        with waiting_for(f"a decision about `{key}` of {self.run.id}{asked}", level):
            question = await self._wait_for(key, body)
        self.run.watch.unpark(key)
        self.check()
        return question

    async def _wait_for(self, key: str, body: api.QuestionBody | None) -> Question:
        parks_at = time.monotonic() + self.run.park_after
        question: Question | None = None
        while question is None or question.state == "open":
            left = parks_at - time.monotonic()
            if question is not None and left <= 0 and not self.run.is_busy:
                raise self.run.watch.park(key)
            # Beyond that, an effect under way keeps the run for a moment at a time.
            wait = max(min(LONGEST_WAIT, left), MOMENT if self.run.is_busy else 0.0)
            path = self.question_path(key)
            if question is None and body is not None:
                asking = self.lease.put(path, body, wait=wait)
            else:
                # With the epoch, a decision counts as taken, and is no news any more.
                query: api.QuestionQuery = {"epoch": self.lease.epoch}
                asking = self.lease.get(path, query, wait=wait)
            question = Question.of_json(await self.run.watch.guard(self.id, asking))
        return question

    @overload
    async def effect(
        self, key: str, function: Callable[..., Awaitable[T]], *args: Any, repeatable: bool = ..., lookup: Lookup = ...
    ) -> T: ...

    @overload
    async def effect(
        self, key: str, function: Callable[..., T], *args: Any, repeatable: bool = ..., lookup: Lookup = ...
    ) -> T: ...

    async def effect(
        self, key: str, function: Function, *args: Any, repeatable: bool = False, lookup: Lookup = None
    ) -> Any:
        """Calls a function once, whatever crashes, and returns its result: JSON, which the server keeps.

        Where a worker began it and died, the server does not know whether it happened. With `repeatable` it is done
        again. With `lookup`, a function with the same arguments finds out: it returns the result, or None where it did
        not happen, and only then it is done. With neither, `EffectUnknown` is raised. A result that is no JSON raises
        `EffectUnkept`: it has happened, and is not done again.

        A key stands for one call: other arguments raise `IdempotencyConflict`, as far as they are JSON, dataclasses or
        pydantic models. A stop or a cancellation does not cut it: it ends, its result is kept, and the next call raises.
        """
        self.check()
        for called in (function, lookup or function):
            check(called)
        with self.run.busy():
            return await to_its_end(self._effect(key, function, args, repeatable, lookup), self.run.effects)

    async def _effect(self, key: str, function: Function, args: Any, repeatable: bool, lookup: Lookup) -> Any:
        path = f"effects/{quote(key, safe='')}"
        # The same attempt, sent again because its answer was lost, is known as the one that has begun it.
        attempt: api.EffectBody = {
            "agent_id": self.id,
            "repeatable": repeatable,
            "attempt": str(uuid.uuid4()),
            "arguments": digest(args),
        }
        effect: api.EffectView = await self.lease.put(path, attempt)
        if effect["state"] == "finished":
            if (what := unkept(effect["result"])) is not None:
                raise EffectUnkept(key, what)
            return effect["result"]
        result = None
        if effect["state"] == "unknown":
            if lookup is None:
                raise EffectUnknown(
                    f"the effect `{key}` was begun by a worker that died, and may have happened",
                    hint="give `effect` a `lookup` that finds out, or `repeatable=True` where twice is harmless",
                )
            result = await invoke(lookup, *args)
        if result is None:
            result = await invoke(function, *args)

        async def finish(result: Any) -> None:
            kept: api.ResultBody = {"result": result}
            await self.lease.put(f"{path}/result", kept)

        try:
            return await keep(result, finish)
        except Unkeepable as error:
            # It has happened, so it is finished, whatever came of it.
            await finish({UNKEPT: str(error)})
            raise EffectUnkept(key, str(error)) from error

    async def messages(self, key: str | None = None) -> list[Message]:
        """What people wrote to this agent since it looked last. The server then shows it as read.

        With a key, code that runs again after a crash gets the same messages. Without one, they are gone then.
        """
        self.check()
        if key is not None:
            reading: api.ReadingBody = {"agent_id": self.id}
            kept: api.ReadingView = await self.lease.put(f"readings/{quote(key, safe='')}", reading)
            return [Message.of_json(message) for message in kept["messages"]]
        signals = await self.run.watch.signals()
        own = [message for message in signals.messages if message.agent_id == self.id]
        if own:
            read: api.ReadBody = {"positions": [message.position for message in own]}
            await self.lease.post("messages/read", read)
        return own

    async def interrupt_request(self) -> InterruptRequest | None:
        """A supervisor's request to interrupt itself, if there is one. The agent's next question takes it."""
        self.check()
        signals = await self.run.watch.signals()
        return next((request for request in signals.asked if request.agent_id == self.id), None)

    async def report(
        self, status: api.AgentStatusName = "running", *, step: int | None = None, tokens: int | None = None
    ) -> api.ActivityName:
        """Tells people what the agent does, which step it is at, and how many tokens its model calls took.

        Returns how it stands then: an agent that has ended stays so.
        """
        body: api.AgentsBody = {
            "agents": [{"agent_id": self.id, "kind": self.kind, "status": status, "step": step, "tokens": tokens}]
        }
        told: api.AgentsView = await self.lease.put("agents", body)
        return told["agents"][0]["status"]

    def question_path(self, key: str) -> str:
        """Where a question of the run is."""
        return f"questions/{quote(key, safe='')}"


class OpeningAgent:
    """An agent that starts when it is awaited, or entered: then it ends with the block.

    ``agent = await run.agent("LEGAL")`` starts it. ``async with run.agent("LEGAL") as agent:`` ends it, too: completed, or
    failed with an exception. A stop that concerns this agent alone ends the block without an exception.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def __await__(self) -> Generator[Any, None, Agent]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Agent:
        # A stop of this agent is raised by its first call, within the block that it ends.
        await self._agent.open()
        return self._agent

    async def __aexit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        agent = self._agent
        ended_by = agent.run.watch.ended_by(agent.id, error)
        if isinstance(ended_by, Stopped) and ended_by.stop.concerns_agent_alone and ended_by.stop.concerns(agent.id):
            if ended_by.stop.agent_id != agent.id:
                return False  # it concerns an agent above, too, which tells the server
            stopped: api.StoppedBody = {"agent_id": agent.id}
            await agent.lease.post("stopped", stopped)
            return True
        if ended_by is None:
            await agent.report("completed")
        elif isinstance(ended_by, Exception) and not isinstance(ended_by, (Stopped, Parked, RouterError)):
            await agent.report("failed")
        return False


def slug(kind: str) -> str:
    """A kind as a part of an agent's id: letters, digits, ``-`` and ``_``."""
    return re.sub(r"[^a-z0-9_-]", "-", kind.lower())
