"""The people's side: scripts of reviewers and supervisors."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import quote

from .connection import Connection, fixed
from .errors import RouterError
from .feed import Feed
from .question import Choice, Confirmation
from .settings import server_url, token
from .transport import DEADLINE, Query, TokenSource, Transport
from .view import AgentView, Caller, Interrupt, MadeDecision, RequestFate, RunView, SentMessage

if TYPE_CHECKING:
    from . import api

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

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def whoami(self) -> Caller:
        """Who the token speaks for."""
        return Caller.of_json(await self._transport.get("/v1/whoami"))

    async def interrupts(
        self,
        status: api.InboxName = "open",
        *,
        run_id: str | None = None,
        agent_id: str | None = None,
        assignee: str | None = None,
    ) -> AsyncIterator[Interrupt]:
        """Interrupts in the order of their admission; by default those that wait for a person."""
        query: api.InterruptsQuery = {"status": status, "run_id": run_id, "agent_id": agent_id, "assignee": assignee}
        page: api.InterruptPage
        async for page in self._pages("/v1/interrupts", query):
            for body in page["interrupts"]:
                yield Interrupt.of_json(body)

    async def interrupt(self, interrupt_id: str) -> Interrupt:
        """One interrupt, with its version."""
        return Interrupt.of_json(await self._transport.get(_interrupt(interrupt_id)))

    async def claim(self, interrupt: Interrupt, *, seconds: int | None = None) -> Interrupt:
        """Claims a question: other people cannot decide it for that time."""
        body: api.ClaimBody = {"ttl_s": seconds}
        headers = _if_match(interrupt.version)
        reply = await self._transport.send("PUT", f"{_interrupt(interrupt.id)}/claim", body=body, headers=headers)
        return Interrupt.of_json(reply.body)

    async def release(self, interrupt: Interrupt) -> Interrupt:
        """Gives a claim back."""
        headers = _if_match(interrupt.version)
        reply = await self._transport.send("DELETE", f"{_interrupt(interrupt.id)}/claim", headers=headers)
        return Interrupt.of_json(reply.body)

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
        headers = {**_if_match(interrupt.version), **_key(key)}
        reply = await self._transport.send("POST", f"{_interrupt(interrupt.id)}/decisions", body=body, headers=headers)
        return MadeDecision.of_json(reply.body)

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
            "choices": [_event_choice(choice) for choice in choices],
            "confirmationItems": [_event_confirmation(item) for item in confirmations],
            "answerForm": answer_form,
        }
        return RequestFate.of_json(await self._transport.post("/v1/interrupt-requests", body))

    async def interrupt_request(self, event_id: str) -> RequestFate:
        """What became of a request to interrupt."""
        return RequestFate.of_json(await self._transport.get(f"/v1/interrupt-requests/{quote(event_id, safe='')}"))

    async def runs(self, status: api.RunStateName | None = None) -> AsyncIterator[RunView]:
        """Runs in the order of their creation."""
        query: api.RunsQuery = {"status": status}
        page: api.RunPage
        async for page in self._pages("/v1/runs", query):
            for body in page["runs"]:
                yield RunView.of_json(body)

    async def run(self, run_id: str) -> RunView:
        """A run, by its id or alias."""
        return RunView.of_json(await self._transport.get(_run(run_id)))

    async def agents(
        self, *, run_id: str | None = None, status: api.ActivityName | None = None
    ) -> AsyncIterator[AgentView]:
        """Agents in the order in which they were started."""
        query: api.AgentsQuery = {"run_id": run_id, "status": status}
        page: api.AgentPage
        async for page in self._pages("/v1/agents", query):
            for body in page["agents"]:
                yield AgentView.of_json(body)

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
        reply = await self._transport.send("POST", f"{_agent(agent_id)}/interrupts", body=body, headers=_key(key))
        return Interrupt.of_json(reply.body)

    async def cancel(
        self, run_id: str, *, mode: Mode = "graceful", reason: str = "", key: str | None = None
    ) -> Interrupt:
        """Ends a run. It is recorded when this returns, and carried out when the worker says so."""
        body: api.CancelBody = {"mode": mode, "reason": reason}
        reply = await self._transport.send("POST", f"{_run(run_id)}/cancel", body=body, headers=_key(key))
        return Interrupt.of_json(reply.body)

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
        reply = await self._transport.send("POST", f"{_run(run_id)}/resume", body=body, headers=_key(key))
        resumed: api.ResumedView = reply.body
        return resumed["run_id"]

    async def send(self, agent_id: str, text: str, *, key: str | None = None) -> SentMessage:
        """Writes to an agent, which reads it when its code asks for messages."""
        body: api.MessageBody = {"text": text}
        reply = await self._transport.send("POST", f"{_agent(agent_id)}/messages", body=body, headers=_key(key))
        return SentMessage.of_json(reply.body)

    def events(
        self,
        topics: str | None = None,
        *,
        run_id: str | None = None,
        agent_id: str | None = None,
        after: str | None = None,
    ) -> Feed:
        """The feed, after a position or from now on. `topics` are patterns: ``interrupt.*,run.completed``."""
        return Feed(self._transport, topics=topics, run_id=run_id, agent_id=agent_id, after=after)

    async def _pages(self, path: str, query: Query) -> AsyncIterator[Any]:
        """The parts of a list."""
        cursor: str | None = None
        while True:
            page = (await self._transport.send("GET", path, {**query, "cursor": cursor})).body
            yield page
            cursor = _next_cursor(page)
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


def _if_match(version: int) -> dict[str, str]:
    return {"If-Match": f'"{version}"'}


def _key(key: str | None) -> dict[str, str]:
    return {} if key is None else {"Idempotency-Key": key}


def _next_cursor(page: api.AgentPage | api.InterruptPage | api.RunPage) -> str | None:
    return page.get("next_cursor")


def _event_choice(choice: str | Choice) -> api.EventChoice:
    given = Choice(choice) if isinstance(choice, str) else choice
    return {"value": given.value, "label": given.label or given.value, "description": given.description or ""}


def _event_confirmation(item: Confirmation) -> api.EventConfirmation:
    return {"id": item.id, "prompt": item.prompt, "defaultValue": item.default, "impactIfNo": item.impact_if_no}
