"""Kills workers and the server at random, or tells the workers to end, and counts what was lost or happened twice.

CRASHES says how often (12 by default), CRASH_SEED repeats the same choices, as far as the machine's timing lets them. With
IRQ_TEST_IN=postgres the store is there.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import secrets
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from conftest import REPOSITORY, store_for
from waiting import eventually
from wrapping import ROUNDS, WRAPPING

from interrupt_router import Interrupt, MadeDecision, Operator, Router, RunFinished, RunView

if TYPE_CHECKING:
    from interrupt_router.api import InboxName

pytestmark = pytest.mark.anyio

CRASHES = int(os.environ.get("CRASHES", "12"))
SEED = os.environ.get("CRASH_SEED") or secrets.token_hex(4)
DESK = REPOSITORY / "examples" / "python" / "desk.py"
TICKETS_OF_A_WORKER = 3
FIRST_ORDER = 200
"""Orders from this one on cost so much that a person is asked before they are paid back."""
LONGEST_LIFE = 3.0
"""How long worker and server live together, in seconds, before one of them is killed."""
SHORTLY = 0.03
"""How long after the moment that a death is aimed at, at most."""
LONGEST_THOUGHT = 0.4
"""How long a person thinks about a question."""


@dataclass
class Installation:
    """A server, which is killed and started again over the same store and on the same port."""

    binary: Path
    folder: Path
    store: str
    address: str = ""
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        listen = urlsplit(self.address).netloc or "127.0.0.1:0"
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.binary, "serve", "--listen", listen, "--store", self.store],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert self.process.stdout is not None
        link = self.process.stdout.readline().decode()
        assert link, (self.folder / "server.log").read_text()[-2000:]
        self.address = f"http://{urlsplit(link).netloc}"

    def token(self, name: str, *role: str) -> str:
        arguments = ["token", "create", "--name", name, "--role", *role, "--store", self.store, "--json"]
        made = subprocess.run([self.binary, *arguments], check=True, capture_output=True)
        return str(json.loads(made.stdout)["secret"])

    def kill(self) -> None:
        end(self.process, signal.SIGKILL)


@dataclass
class Desk:
    """The example, which is killed and started again with the tickets that it has not finished."""

    server: Installation
    token: str
    ledger: Path
    tickets: list[str] = field(default_factory=list)
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        environment = {
            **os.environ,
            "IRQ_SERVER": self.server.address,
            "IRQ_TOKEN": self.token,
            "DESK_LEDGER": str(self.ledger),
            "DESK_LEASE": "1",
        }
        with (self.server.folder / "desk.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, *self.arguments()], stdout=log, stderr=log, env=environment
            )

    def arguments(self) -> list[str]:
        return [str(DESK), *self.tickets[-TICKETS_OF_A_WORKER:]]

    def take_new_tickets(self) -> list[str]:
        first = len(self.tickets)
        new = [str(FIRST_ORDER + first + n) for n in range(TICKETS_OF_A_WORKER)]
        self.tickets += new
        return new

    async def go_on(self) -> None:
        """With new tickets, once it has finished those before."""
        self.take_new_tickets()
        self.start()

    def effects(self) -> int:
        """How many bytes of effects there are."""
        return self.ledger.stat().st_size if self.ledger.exists() else 0

    def has_finished(self) -> bool:
        """Whether it ended by itself; it must not fail, whatever is killed around it."""
        assert self.process is not None
        code = self.process.poll()
        assert code in (None, 0), f"seed {SEED}: " + (self.server.folder / "desk.log").read_text()[-3000:]
        return code == 0

    def end(self, number: signal.Signals) -> None:
        code = end(self.process, number)
        log = (self.server.folder / "desk.log").read_text()
        # One that is told before it listens, or when it has finished, ends as the system says.
        assert code in (0, -number, 128 + number), f"seed {SEED}: it ended with {code}: " + log[-3000:]


@dataclass
class Wrapping(Desk):
    """A worker whose code wraps what it calls: in groups of tasks, in threads and in errors of its own."""

    way: str = "async"
    router: Router | None = None

    def arguments(self) -> list[str]:
        return [str(Path(__file__).with_name("wrapping.py")), self.way, str(self.ledger)]

    async def go_on(self) -> None:
        """Its process takes what comes."""
        assert self.router is not None
        transport = self.router._transport(WRAPPING)
        for ticket in self.take_new_tickets():
            new = {"input": ticket, "thread_id": f"order-{ticket}"}
            await transport.post(f"/v1/workflows/{WRAPPING.name}/runs", new)
        if self.process is None:
            self.start()

    def has_finished(self) -> bool:
        assert not super().has_finished(), "it works until it is told to end"
        lines = self.ledger.read_text().splitlines() if self.ledger.exists() else []
        return all(f"odd {ticket}" in lines for ticket in self.tickets)


def end(process: subprocess.Popen[bytes] | None, number: signal.Signals) -> int:
    assert process is not None
    process.send_signal(number)
    code = process.wait(30)
    if process.stdout is not None:
        process.stdout.close()
    return code


class Person:
    """Answers each question as it comes, by REST, and keeps what was decided."""

    def __init__(self, operator: Operator, chance: random.Random) -> None:
        self.made: dict[str, MadeDecision] = {}
        self._operator = operator
        self._chance = chance

    async def answer_all(self) -> None:
        while True:
            async for question in self._operator.interrupts():
                if question.id not in self.made:
                    await asyncio.sleep(self._chance.uniform(0, LONGEST_THOUGHT))
                    self.made[question.id] = await self._answer(question)
            await asyncio.sleep(0.05)

    async def _answer(self, question: Interrupt) -> MadeDecision:
        # With one key, the decision whose answer a dying server did not send is not made a second time.
        if self._chance.random() < 0.25:
            return await self._operator.decide(question, "reroute", reroute_to="LEGAL", key=question.id)
        if question.agent_type == "ORCHESTRATOR":
            return await self._operator.decide(question, "reroute", reroute_to="REFUNDS", key=question.id)
        return await self._operator.decide(question, "approve", key=question.id)


class Writer(Person):
    """Writes to the agent before each answer."""

    async def _answer(self, question: Interrupt) -> MadeDecision:
        await self._operator.send(question.agent_id, question.reason, key=question.id)
        return await self._operator.decide(question, "approve", key=question.id)


@asynccontextmanager
async def answering(person: Person) -> AsyncIterator[None]:
    task = asyncio.create_task(person.answer_all())
    try:
        yield
    finally:
        # A person who has failed raises here.
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_nothing_is_lost_and_nothing_happens_twice(binary: Path, tmp_path: Path) -> None:
    chance = random.Random(SEED)
    print(f"CRASH_SEED={SEED} CRASHES={CRASHES}")
    server = Installation(binary, tmp_path, store_for(tmp_path))
    server.start()
    desk = Desk(server, server.token("desk", "worker", "--workflow", "desk"), tmp_path / "ledger.jsonl")
    reviewer = server.token("ann", "reviewer")
    try:
        async with Operator(server.address, reviewer) as ann:
            person = Person(ann, random.Random(SEED + "person"))
            async with answering(person):
                killed = await crash(server, desk, person, chance)
            await check(ann, desk, person)
            print(f"ended {dict(killed)}; {len(desk.tickets)} tickets, {len(person.made)} decisions, all once")
    finally:
        end(desk.process, signal.SIGKILL)
        server.kill()


@pytest.mark.parametrize("way", ["async", "sync"])
async def test_code_that_wraps_what_it_calls_loses_nothing(way: str, binary: Path, tmp_path: Path) -> None:
    chance = random.Random(SEED + way)
    print(f"CRASH_SEED={SEED} CRASHES={CRASHES} {way}")
    server = Installation(binary, tmp_path, store_for(tmp_path))
    server.start()
    token = server.token("clerk", "worker", "--workflow", WRAPPING.name)
    desk = Wrapping(server, token, tmp_path / "ledger", way=way)
    try:
        async with (
            Operator(server.address, server.token("ann", "supervisor")) as ann,
            Router(server.address, token) as router,
        ):
            await router.register(WRAPPING)
            desk.router = router
            person = Writer(ann, random.Random(SEED + "person"))
            async with answering(person):
                ended = await crash(server, desk, person, chance)
                for ticket in desk.tickets:
                    await completed(router, ticket, ann, person)
            lines = Counter(desk.ledger.read_text().splitlines())
            did = [*(f"pay-{number}" for number in range(ROUNDS)), "odd"]
            assert lines == Counter(f"{what} {ticket}" for ticket in desk.tickets for what in did), f"seed {SEED}"
            print(f"ended {dict(ended)}; {len(desk.tickets)} runs, {len(person.made)} decisions, all once")
    finally:
        end(desk.process, signal.SIGKILL)
        server.kill()


async def completed(router: Router, ticket: str, ann: Operator, person: Person) -> None:
    """Waits until a run has ended; it has read each message and decision, once."""

    async def look() -> RunView | None:
        row = await ann.run(f"order-{ticket}")
        return row if row.status in ("completed", "failed", "cancelled") else None

    row = await eventually(look)
    assert row.status == "completed", f"seed {SEED}: {row}"
    with pytest.raises(RunFinished) as finished:
        await router.run(WRAPPING, alias=row.thread_id, input=ticket).__aenter__()
    asked = [question async for question in ann.interrupts("resolved", run_id=row.run_id)]
    asked = sorted((question for question in asked if question.type == "HUMAN_REVIEW"), key=lambda it: it.reason)
    assert finished.value.result == {
        "decided": [person.made[question.id].decision_id for question in asked],
        "read": [f"Round {number}?" for number in range(ROUNDS)],
        "odd": "odd",
    }, f"seed {SEED}: {row}"


async def crash(server: Installation, desk: Desk, person: Person, chance: random.Random) -> Counter[str]:
    """Kills and starts again until it was often enough, and then lets the desk finish its tickets."""
    killed: Counter[str] = Counter()
    # Half of the deaths are aimed: shortly after an effect, whose result is then being kept, or after a decision.
    moments: list[Callable[[], int]] = [lambda: 0, lambda: 0, desk.effects, lambda: len(person.made)]
    await desk.go_on()
    while killed.total() < CRASHES:
        finished = await lived(desk, chance.uniform(0, LONGEST_LIFE), chance.choice(moments))
        if finished:
            await desk.go_on()
            continue
        await asyncio.sleep(chance.uniform(0, SHORTLY))
        victims = chance.choice([["desk"], ["told"], ["server"], ["desk", "server"]])
        if victims != ["server"]:
            desk.end(signal.SIGTERM if "told" in victims else signal.SIGKILL)
        if "server" in victims:
            server.kill()
            server.start()
        if victims != ["server"]:
            desk.start()
        killed.update(victims)
    assert await lived(desk, 120, moments[0]), f"seed {SEED}: the desk did not finish its tickets"
    return killed


async def lived(desk: Desk, seconds: float, moment: Callable[[], int]) -> bool:
    """Lets everything run for a while, or until the moment comes. Returns whether the desk has finished."""
    ends, before = time.monotonic() + seconds, moment()
    while time.monotonic() < ends and moment() == before and not desk.has_finished():
        await asyncio.sleep(0.001)
    return desk.has_finished()


async def check(ann: Operator, desk: Desk, person: Person) -> None:
    payments = Counter(re.findall(r"for order (\d+) ", desk.ledger.read_text() if desk.ledger.exists() else ""))
    assert not [order for order, times in payments.items() if times > 1], f"seed {SEED}: effects were repeated"
    expected, decided = set(), 0
    for order in desk.tickets:
        run = await ann.run(f"order-{order}")
        assert run.status == "completed", f"seed {SEED}: {run}"
        # The ends of an interrupt overlap: one that was rerouted is resolved, too.
        ends: tuple[InboxName, ...] = ("live", "resolved", "rerouted", "expired", "cancelled")
        asked = {question.id: question for end in ends async for question in ann.interrupts(end, run_id=run.run_id)}
        targets = {question.agent_type: await target(question, person) for question in asked.values()}
        # The customer is asked first, and who pays back only where the ticket was sent there; each of them once.
        assert [*targets] == ["ORCHESTRATOR", "REFUNDS"][: len(asked)], f"seed {SEED}: {asked}"
        assert ("REFUNDS" in targets) == (targets["ORCHESTRATOR"] == "REFUNDS"), f"seed {SEED}: {targets}"
        expected |= {order} if targets.get("REFUNDS") == "REFUNDS" else set()
        decided += len(asked)
    assert set(payments) == expected, f"seed {SEED}"
    assert len(person.made) == decided, f"seed {SEED}"


async def target(question: Interrupt, person: Person) -> str:
    """Where the answer to a question went: where the person has sent it."""
    decision, made = question.decision, person.made[question.id]
    assert decision is not None, f"seed {SEED}: the decision of {question.id} was lost"
    assert (decision.decision_id, decision.target) == (made.decision_id, made.target), f"seed {SEED}"
    return decision.target
