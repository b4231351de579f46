"""Kills the worker and the server at random, many times, and counts what was lost or happened twice.

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

from interrupt_router import Interrupt, MadeDecision, Operator

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
        kill(self.process)


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
                [sys.executable, DESK, *self.tickets[-TICKETS_OF_A_WORKER:]], stdout=log, stderr=log, env=environment
            )

    def take_new_tickets(self) -> None:
        first = len(self.tickets)
        self.tickets += [str(FIRST_ORDER + first + n) for n in range(TICKETS_OF_A_WORKER)]

    def effects(self) -> int:
        """How many bytes of effects there are."""
        return self.ledger.stat().st_size if self.ledger.exists() else 0

    def has_finished(self) -> bool:
        """Whether it ended by itself; it must not fail, whatever is killed around it."""
        assert self.process is not None
        code = self.process.poll()
        assert code in (None, 0), f"seed {SEED}: " + (self.server.folder / "desk.log").read_text()[-3000:]
        return code == 0

    def kill(self) -> None:
        kill(self.process)


def kill(process: subprocess.Popen[bytes] | None) -> None:
    assert process is not None
    process.send_signal(signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


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
            print(f"killed {dict(killed)}; {len(desk.tickets)} tickets, {len(person.made)} decisions, all once")
    finally:
        desk.kill()
        server.kill()


async def crash(server: Installation, desk: Desk, person: Person, chance: random.Random) -> Counter[str]:
    """Kills and starts again until it was often enough, and then lets the desk finish its tickets."""
    killed: Counter[str] = Counter()
    # Half of the deaths are aimed: shortly after an effect, whose result is then being kept, or after a decision.
    moments: list[Callable[[], int]] = [lambda: 0, lambda: 0, desk.effects, lambda: len(person.made)]
    desk.take_new_tickets()
    desk.start()
    while killed.total() < CRASHES:
        finished = await lived(desk, chance.uniform(0, LONGEST_LIFE), chance.choice(moments))
        if finished:
            desk.take_new_tickets()
            desk.start()
            continue
        await asyncio.sleep(chance.uniform(0, SHORTLY))
        victims = chance.choice([["desk"], ["server"], ["desk", "server"]])
        if "desk" in victims:
            desk.kill()
        if "server" in victims:
            server.kill()
            server.start()
        if "desk" in victims:
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
