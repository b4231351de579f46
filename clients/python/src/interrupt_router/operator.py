"""The people's side: scripts of reviewers and supervisors."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar
from urllib.parse import quote

from .connection import Connection, fixed
from .errors import RouterError
from .feed import Feed
from .question import Choice, Confirmation
from .schema.decode import View
from .settings import server_url, token
from .transport import DEADLINE, Query, TokenSource, Transport
from .view import AgentView, Caller, Interrupt, MadeDecision, RequestFate, RunView, SentMessage

if TYPE_CHECKING:
    from . import api

V = TypeVar("V", bound=View)

Verdict: TypeAlias = Literal[
    "approve", "edit", "reject", "respond", "ignore", "reroute", "modify_plan", "cancel", "resume"
]
Mode: TypeAlias = Literal["graceful", "immediate"]
StopType: TypeAlias = Literal["PAUSE", "STOP", "PRUNE"]
Scope: TypeAlias = Literal["agent", "run"]


class Operator:
    """A server, as people use it: it answers, stops and redirects. Open it with ``async with``.

    The token has the role ``reviewer`` or ``supervisor``. Address and token come from the arguments or the environment, as
    with `Router`. Each method that writes takes an idempotency `key`: with the same key, the same request has the same
    answer, also from another process. Without one, only the attempts of one call share a key.
    """

    def __init__(
        self, base_url: str | None = None, token: str | TokenSource | None = None, *, deadline: float = DEADLINE
    ) -> None:
        self._given = (base_url, token)
        self._deadline = deadline
        self._connection: Connection | None = None

    async def __aenter__(self) -> Operator:
        self._connection = Connection(server_url(self._given[0]), deadline=self._deadline)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def whoami(self) -> Caller:
        """Who the token speaks for."""
        return Caller.of_json(await self._transport.get("/v1/whoami"))

    def interrupts(
        self,
        status: api.InboxName = "open",
        *,
        run_id: str | None = None,
        agent_id: str | None = None,
        assignee: str | None = None,
    ) -> AsyncIterator[Interrupt]:
        """Interrupts in the order of their admission; by default those that wait for a person."""
        query: api.InterruptsQuery = {"status": status, "run_id": run_id, "agent_id": agent_id, "assignee": assignee}
        return self._all(Interrupt, "interrupts", query)

    async def interrupt(self, interrupt_id: str) -> Interrupt:
        """One interrupt, with its version."""
        return Interrupt.of_json(await self._transport.get(_interrupt(interrupt_id)))

    async def claim(self, interrupt: Interrupt, *, seconds: int | None = None) -> Interrupt:
        """Claims a question: other people cannot decide it for that time."""
        body: api.ClaimBody = {"ttl_s": seconds}
        path = f"{_interrupt(interrupt.id)}/claim"
        return Interrupt.of_json(await self._transport.put(path, body, headers=_if_match(interrupt)))

    async def release(self, interrupt: Interrupt) -> Interrupt:
        """Gives a claim back."""
        path = f"{_interrupt(interrupt.id)}/claim"
        return Interrupt.of_json(await self._transport.delete(path, headers=_if_match(interrupt)))

    async def decide(
        self,
        interrupt: Interrupt,
        decision: Verdict,
        *,
        choices: Sequence[str] = (),
        text: str | None = None,
        confirmations: Mapping[str, bool] | None = None,
        request: Mapping[str, Any] | None = None,
        reroute_to: str | None = None,
        message: str | None = None,
        payload: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> MadeDecision:
        """Decides about an interrupt as it was read.

        Raises `StaleVersion` where it has changed since, and `AlreadyResolved` where another person was faster. `request`
        is the edited request of the route, with the decision ``edit``. `payload` has further members of
        ``response_schema``.
        """
        answer = {
            "selectedChoices": list(choices),
            "text": text,
            "confirmations": dict(confirmations or {}),
            "editedRequest": dict(request) if request is not None else None,
        }
        full = {**{name: value for name, value in answer.items() if value}, **(payload or {})}
        body: api.DecisionBody = {
            "decision": decision,
            "payload": full or None,
            "reroute_to": reroute_to,
            "message": message,
            "shown_digest": interrupt.shown_digest,
        }
        headers = {**_if_match(interrupt), **_key(key)}
        path = f"{_interrupt(interrupt.id)}/decisions"
        return MadeDecision.of_json(await self._transport.post(path, body, headers=headers))

    async def withdraw(self, interrupt_id: str) -> Interrupt:
        """Withdraws an interrupt that is not wanted any more."""
        return Interrupt.of_json(await self._transport.delete(_interrupt(interrupt_id)))

    async def request_interrupt(
        self,
        agent: AgentView,
        reason: str,
        *,
        reroute_to: str | None = None,
        choices: Sequence[str | Choice] = (),
        confirmations: Sequence[Confirmation] = (),
        answer_form: api.AnswerFormName | None = None,
        context: str | None = None,
        event_id: str | None = None,
    ) -> RequestFate:
        """Asks a running agent to interrupt itself; the answer to its next question then goes to `reroute_to`.

        It is one event, however often it is published with the same `event_id`.
        """
        body: api.InterruptRequestEvent = {
            "eventId": event_id or str(uuid.uuid4()),
            "timestamp": datetime.datetime.now(datetime.timezone.utc).isoformat(),
            "nodeId": agent.agent_id,
            "sourceAgentType": agent.agent_type,
            "interruptType": "HUMAN_REVIEW",
            "reason": reason,
            "rerouteToAgentType": reroute_to,
            "contextForDecision": context or "",
            "choices": [choice.event() for choice in map(Choice.of, choices)],
            "confirmationItems": [confirmation.event() for confirmation in confirmations],
            "answerForm": answer_form,
        }
        return RequestFate.of_json(await self._transport.post("/v1/interrupt-requests", body))

    async def interrupt_request(self, event_id: str) -> RequestFate:
        """What became of a request to interrupt."""
        return RequestFate.of_json(await self._transport.get(f"/v1/interrupt-requests/{quote(event_id, safe='')}"))

    def runs(self, status: api.RunStateName | None = None) -> AsyncIterator[RunView]:
        """Runs in the order of their creation."""
        query: api.RunsQuery = {"status": status}
        return self._all(RunView, "runs", query)

    async def run(self, run_id: str) -> RunView:
        """A run, by its id or alias."""
        return RunView.of_json(await self._transport.get(_run(run_id)))

    def agents(self, *, run_id: str | None = None, status: api.ActivityName | None = None) -> AsyncIterator[AgentView]:
        """Agents in the order in which they were started."""
        query: api.AgentsQuery = {"run_id": run_id, "status": status}
        return self._all(AgentView, "agents", query)

    async def agent(self, agent_id: str) -> AgentView:
        """An agent, by its address: the run's id and its id in the run."""
        return AgentView.of_json(await self._transport.get(_agent(agent_id)))

    async def stop(
        self,
        agent_id: str,
        *,
        type: StopType = "PAUSE",  # noqa: A002 - the word of the protocol
        mode: Mode = "graceful",
        scope: Scope = "agent",
        reason: str = "",
        key: str | None = None,
    ) -> Interrupt:
        """Stops an agent. PAUSE pauses its run, PRUNE ends the agent and those below it, STOP ends it or its run.

        It is recorded when this returns, and carried out when the worker says so.
        """
        body: api.InterruptBody = {"type": type, "mode": mode, "scope": scope, "reason": reason}
        return Interrupt.of_json(await self._transport.post(f"{_agent(agent_id)}/interrupts", body, headers=_key(key)))

    async def cancel(
        self, run_id: str, *, mode: Mode = "graceful", reason: str = "", key: str | None = None
    ) -> Interrupt:
        """Ends a run. It is recorded when this returns, and carried out when the worker says so."""
        body: api.CancelBody = {"mode": mode, "reason": reason}
        return Interrupt.of_json(await self._transport.post(f"{_run(run_id)}/cancel", body, headers=_key(key)))

    async def resume(
        self,
        run_id: str,
        *,
        input: str | None = None,  # noqa: A002 - the word of the protocol
        checkpoint: int | None = None,
        key: str | None = None,
    ) -> str:
        """Resumes a paused run, or begins another one from a checkpoint; returns the id of the run that goes on."""
        body: api.ResumeBody = {"input": input, "checkpoint": checkpoint}
        resumed: api.ResumedView = await self._transport.post(f"{_run(run_id)}/resume", body, headers=_key(key))
        return resumed["run_id"]

    async def send(self, agent_id: str, text: str, *, key: str | None = None) -> SentMessage:
        """Writes to an agent, which reads it when its code asks for messages."""
        body: api.MessageBody = {"text": text}
        return SentMessage.of_json(await self._transport.post(f"{_agent(agent_id)}/messages", body, headers=_key(key)))

    def events(
        self,
        topics: str | None = None,
        *,
        run_id: str | None = None,
        agent_id: str | None = None,
        after: str | None = None,
    ) -> Feed:
        """The feed, after a position or from now on. `topics` are patterns: ``interrupt.*,run.completed``."""
        return Feed(self._transport, {"topics": topics, "run_id": run_id, "agent_id": agent_id}, after)

    async def _all(self, kind: type[V], what: str, query: Query) -> AsyncIterator[V]:
        """The entries of a list, page after page."""
        cursor: str | None = None
        while True:
            page = await self._transport.get(f"/v1/{what}", {**query, "cursor": cursor})
            for body in page[what]:
                yield kind.of_json(body)
            cursor = page.get("next_cursor")
            if cursor is None:
                return

    @property
    def _transport(self) -> Transport:
        if self._connection is None:
            raise RouterError("the operator is not open", hint="use `async with Operator(...) as operator`")
        given = self._given[1]
        return self._connection.transport(given if callable(given) else fixed(token(given)))


def _interrupt(interrupt_id: str) -> str:
    return f"/v1/interrupts/{quote(interrupt_id, safe='')}"


def _run(run_id: str) -> str:
    return f"/v1/runs/{quote(run_id, safe='')}"


def _agent(agent_id: str) -> str:
    return f"/v1/agents/{quote(agent_id, safe='')}"


def _if_match(interrupt: Interrupt) -> dict[str, str]:
    return {"If-Match": f'"{interrupt.version}"'}


def _key(key: str | None) -> dict[str, str]:
    return {} if key is None else {"Idempotency-Key": key}
