"""What people do in the tests, and waiting for what happens elsewhere."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

from interrupt_router import Interrupt, Limit, Operator, Run, Workflow

T = TypeVar("T")

WITHIN = 60.0
BETWEEN = 0.02


@dataclass
class RefundRequest:
    """Pays money back."""

    cents: Annotated[int, Limit(ge=1, le=100_000)]


@dataclass
class LegalRequest:
    """Hands the ticket to the lawyers."""

    matter: Annotated[str, Limit(max_length=2000)]


DESK = Workflow(
    "desk",
    kinds={"DESK": None, "REFUNDS": "refund", "LEGAL": "legal"},
    routes={"refund": RefundRequest, "legal": LegalRequest},
)


def form_of(question: Interrupt) -> str | None:
    """What an answer is. What is offered follows from it."""
    form, offered = question.answer_form, question.allowed_decisions
    assert ("approve" in offered, "respond" in offered) == (form in (None, "yes_or_no"), form != "yes_or_no")
    return form


async def within(happens: Awaitable[T]) -> T:
    """Waits for something, and fails where that takes too long."""
    return await asyncio.wait_for(happens, WITHIN)


async def eventually(look: Callable[[], Awaitable[T | None]]) -> T:
    """Looks until there is something, and fails where that takes too long."""
    ends = time.monotonic() + WITHIN
    while (found := await look()) is None:
        assert time.monotonic() < ends, f"it was not there within {WITHIN:.0f} s"
        await asyncio.sleep(BETWEEN)
    return found


async def open_questions(person: Operator, count: int = 1) -> list[Interrupt]:
    """The questions that wait for a person, as soon as there are so many."""

    async def look() -> list[Interrupt] | None:
        found = [interrupt async for interrupt in person.interrupts()]
        return found if len(found) == count else None

    return await eventually(look)


async def all_questions(person: Operator, run_id: str) -> list[Interrupt]:
    """All questions of a run that were ever asked."""
    found = [
        interrupt
        for status in ("open", "resolved", "rerouted", "expired", "cancelled")
        async for interrupt in person.interrupts(status, run_id=run_id)
    ]
    return [interrupt for interrupt in found if interrupt.type == "HUMAN_REVIEW"]


async def in_state(person: Operator, run_id: str, status: str) -> None:
    """Waits until a run has a status."""

    async def look() -> bool | None:
        return (await person.run(run_id)).status == status or None

    await eventually(look)


async def heard_of_stop(run: Run) -> None:
    """Waits until the worker has heard of a stop."""

    async def look() -> bool | None:
        return await run.interrupted() or None

    await eventually(look)


async def resume(person: Operator, run_id: str) -> None:
    """Resumes a paused run, and waits until a worker can take it."""
    await person.resume(run_id)

    async def look() -> bool | None:
        return (await person.run(run_id)).status != "paused" or None

    await eventually(look)
