"""One ticket at a desk: does the steps of a case, and looks at what can be seen from outside."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from interrupt_router import Interrupt, Operator, RouterError, RunFinished
from interrupt_router.operator import Mode, Scope, StopType, Verdict
from interrupt_router.view import AgentView

from .case import Case, filled
from .installation import Installation
from .model import Model

if TYPE_CHECKING:
    from interrupt_router.api import InboxName

T = TypeVar("T")

WITHIN = 30.0
BETWEEN = 0.1
OVER = ("completed", "failed", "cancelled")
ENDS: tuple[InboxName, ...] = ("live", "resolved", "rerouted", "expired", "cancelled")
LARGE = 201
"""Orders from this number on cost so much that a person is asked before they are paid back."""
NUMBERS = itertools.count()


class Ticket:
    """A ticket on its way. Each method ``do_NAME`` is the step NAME of a case."""

    def __init__(self, case: Case, desk: Installation, model: Model) -> None:
        number = next(NUMBERS)
        self._case = case
        self._desk = desk
        self._order = LARGE + number if case.is_large else 1 + number % 100
        self._name = f"ticket-{number}-{case.name}"
        self._script = model.script(self._name, case.model)
        self._run = ""
        self._question: Interrupt | None = None
        self._asked: set[str] = set()
        """The ids of the questions that were seen."""
        self._decided: dict[str, tuple[str, str]] = {}
        """By whom questions were decided, and where their answers went."""
        self._agents_before: set[str] = set()
        """The agents that were there before the last decision."""

    async def handle(self) -> None:
        """Does all steps, and looks at what holds for every ticket."""
        self._run = await self._desk.hand_in(self._name, {"order": self._order, "wish": f"{self._name} is broken"})
        names = {"ticket": self._name, "order": str(self._order), "cents": str(self._order * 100)}
        for number, step in enumerate(filled(self._case.steps, names), 1):
            (name, value), *more = step.items()
            try:
                await getattr(self, f"do_{name}")(value, **dict(more))
            except (AssertionError, RouterError) as error:
                raise AssertionError(f"step {number}, {name} {value}: {error}") from error
        await self._check()

    async def leave(self) -> None:
        """Ends the run, where the case leaves it open: its worker has others to do."""
        with suppress(RunFinished):
            if await self._status() not in OVER:
                await self._ann.cancel(self._run, mode="immediate", reason="the case is over")

    async def do_asks(
        self, kind: str, *, words: str = "", form: str | None = None, answer_goes_to: str | None = None
    ) -> None:
        """A kind of agent asks a question that was not seen before, and may say what an answer is."""

        async def look() -> Interrupt | None:
            asked = [one async for one in self._ann.interrupts(run_id=self._run) if _is_question(one)]
            return next((one for one in asked if one.id not in self._asked), None)

        question = await self._until(look, f"{kind} asks")
        assert question.agent_type == kind, f"{question.agent_type} asks: {question.reason}"
        assert words in question.reason, question.reason
        assert form in (None, question.answer_form), f"an answer is {question.answer_form}"
        targets = [route.agent_type for route in question.routes if route.allowed]
        assert answer_goes_to in (None, *targets), f"its answer goes to {targets}"
        self._question = question
        self._asked.add(question.id)

    async def do_brought_to(self, kind: str, *, form: str | None = None) -> None:
        """The ticket comes to a kind of agent, which asks. Every ticket begins with the customer."""
        await self.do_asks("ORCHESTRATOR")
        if kind != "ORCHESTRATOR":
            await self.do_decide("reroute", to=kind)
            await self.do_asks(kind, form=form)

    async def do_decide(
        self,
        decision: Verdict,
        *,
        by: str = "ann",
        to: str | None = None,
        request: Mapping[str, Any] | None = None,
        text: str | None = None,
        refused: Mapping[str, str] | None = None,
    ) -> None:
        """A person decides the question, or is refused with a typed error, which may name a place."""
        assert self._question is not None
        question = await self._ann.interrupt(self._question.id)
        self._agents_before = {agent.agent_id for agent in await self._agents()}
        try:
            made = await self._desk.people[by].decide(question, decision, reroute_to=to, request=request, text=text)
        except RouterError as error:
            if refused is None or not _is(error, **refused):
                raise
        else:
            assert refused is None, f"it was decided: {made}"
            assert to in (None, made.target), f"it goes to {made.target}"
            self._decided[question.id] = (by, made.target)

    async def do_arrives_at(self, kind: str) -> None:
        """The ticket comes to an agent that was not there when the last question was decided."""

        async def look() -> AgentView | None:
            return next((agent for agent in await self._agents() if agent.agent_id not in self._agents_before), None)

        agent = await self._until(look, f"{kind} has the ticket")
        assert agent.agent_type == kind, f"{agent.agent_type} has it"

    async def do_model_is_asked(self, times: int, *, about: str, and_told: str = "") -> None:
        """The model was asked so often for the request of a route, and told at last what does not fit."""
        told = [text for field, text in self._script.told if field == about]
        assert len(told) == times, f"it was asked {len(told)} times"
        assert and_told in told[-1], f"it was told: {told[-1]}"

    async def do_stop(
        self, kind: StopType, *, of: str = "root", mode: Mode = "graceful", scope: Scope = "agent"
    ) -> None:
        """A person stops an agent, or with it the run."""
        await self._ann.stop(f"{self._run}/{of}", type=kind, mode=mode, scope=scope, reason="enough for today")

    async def do_resume(self, _: None) -> None:
        """A person resumes the run."""
        await self._ann.resume(self._run)

    async def do_run_is(self, status: str) -> None:
        """The run comes to stand so."""

        async def look() -> bool | None:
            return await self._status() == status or None

        await self._until(look, f"the run is {status}")

    async def do_publish(self, event: str, *, to: str, of: str) -> None:
        """A supervisor asks an agent to interrupt itself, as soon as it is there."""

        async def look() -> AgentView | None:
            return next((agent for agent in await self._agents() if agent.raw["node_id"] == of), None)

        agent = await self._until(look, f"{of} is there")
        await self._ann.request_interrupt(agent, "let them see it", reroute_to=to, event_id=f"{event}-{self._name}")

    async def do_event_is(self, state: str, *, of: str) -> None:
        """A supervisor's event stands so."""
        fate = await self._ann.interrupt_request(f"{of}-{self._name}")
        assert fate.raw["reroute"]["state"] == state, f"it is {fate.raw['reroute']}"

    async def do_send(self, text: str, *, to: str) -> None:
        """A person writes to an agent."""
        await self._ann.send(f"{self._run}/{to}", text)

    async def do_kill(self, who: str) -> None:
        """The worker, the server or both die at once."""
        if who in ("worker", "both"):
            await self._desk.kill_worker()
        if who == "worker":
            await self._desk.serve_people()
        if who in ("server", "both"):
            await self._desk.kill_server()

    async def do_start(self, who: str) -> None:
        """They are started again, over the same store."""
        if who in ("server", "both"):
            await self._desk.start_server()
        if who in ("worker", "both"):
            await self._desk.start_worker()

    async def do_ends(self, status: str, *, done: list[str] | None = None) -> None:
        """The run is over, and this was done. Behind that, its result has what was written to it."""

        async def look() -> str | None:
            found = await self._status()
            return found if found in OVER else None

        found = await self._until(look, "the run is over")
        assert found == status, f"it is {found}: {(await self._ann.run(self._run)).raw}"
        if done is not None:
            lines = (await self._desk.result_of(self._run))["lines"]
            assert done[0] in lines[0], lines
            assert all(sum(words in line for line in lines) == 1 for words in done), lines

    async def do_bank_pays(self, _: None) -> None:
        """The bank has just paid the order back: the desk may not know it yet."""

        async def look() -> bool | None:
            return bool(self._desk.payments(self._order)) or None

        await self._until(look, "the bank pays", between=0.001)

    async def do_paid(self, times: int) -> None:
        """The bank has paid the order back so often."""
        keys = self._desk.payments(self._order)
        assert len(keys) == times, f"it has paid with the keys {keys}"

    async def do_audit_names(self, people: list[str]) -> None:
        """Those who decided, in the order of their decisions, as the audit of the run has them."""
        named = [entry["actor"]["name"] for entry in await self._decisions()]
        assert named == people, f"it names {named}"

    async def _check(self) -> None:
        """What holds for every ticket: nothing is asked, decided or paid twice, and the audit names who decided."""
        questions: dict[str, Interrupt] = {}
        for end in ENDS:
            questions |= {one.id: one async for one in self._ann.interrupts(end, run_id=self._run) if _is_question(one)}
        # Where a model fails, the desk itself asks for the request, and may do so in the words of the agent.
        asked = Counter((one.agent_id, one.raw["source"], one.reason) for one in questions.values())
        assert max(asked.values()) == 1, f"it was asked twice: {asked}"
        for interrupt, (by, target) in self._decided.items():
            decision = questions[interrupt].decision
            assert decision is not None, f"the decision of {interrupt} was lost"
            assert (decision.by, decision.target) == (by, target), f"another decision counts: {decision}"
        audited = [(entry["interrupt"], entry["actor"]["name"]) for entry in await self._decisions()]
        of_people = [entry for entry in audited if entry[0] in questions]
        assert of_people == [(interrupt, by) for interrupt, (by, _) in self._decided.items()], (
            f"the audit says {audited}"
        )
        assert len(self._desk.payments(self._order)) <= 1, "it was paid twice"

    async def _decisions(self) -> list[dict[str, Any]]:
        """The rows of the audit in which people decided."""
        entries = [row["entry"] for row in await self._desk.history_of(self._run)]
        decisions = [entry for entry in entries if entry["about"] == "interrupt" and entry["event"] == "decide"]
        return [entry for entry in decisions if "actor" in entry]

    async def _agents(self) -> list[AgentView]:
        return [agent async for agent in self._ann.agents(run_id=self._run)]

    async def _status(self) -> str:
        return (await self._ann.run(self._run)).status

    async def _until(self, look: Callable[[], Awaitable[T | None]], what: str, between: float = BETWEEN) -> T:
        ends = time.monotonic() + WITHIN
        while (found := await look()) is None:
            late = f"within {WITHIN:.0f} s it was not seen that {what}"
            assert time.monotonic() < ends, f"{late}: {(await self._ann.run(self._run)).raw}"
            await asyncio.sleep(between)
        return found

    @property
    def _ann(self) -> Operator:
        return self._desk.people["ann"]


def _is_question(interrupt: Interrupt) -> bool:
    """Whether a person is asked. The Rust desk asks what a supervisor's event says, the others their own question."""
    return interrupt.type == "HUMAN_REVIEW"


def _is(error: RouterError, *, code: str, at: str | None = None, names: str = "") -> bool:
    """Whether it is the error of this code, at this place, and names this."""
    return (
        error.code == code and at in (None, *(place.pointer for place in error.errors)) and names in str(error.problem)
    )
