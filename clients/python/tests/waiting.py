"""Waiting for things that happen in other processes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from interrupt_router import Interrupt, Operator

T = TypeVar("T")

WITHIN = 30.0
BETWEEN = 0.02


async def until(happened: Callable[[], bool]) -> None:
    """Waits until something has happened, and fails where that takes too long."""
    ends = time.monotonic() + WITHIN
    while not happened():
        assert time.monotonic() < ends, f"it did not happen within {WITHIN:.0f} s"
        await asyncio.sleep(BETWEEN)


async def eventually(look: Callable[[], Awaitable[T | None]]) -> T:
    """Looks until there is something, and fails where that takes too long."""
    ends = time.monotonic() + WITHIN
    while (found := await look()) is None:
        assert time.monotonic() < ends, f"it was not there within {WITHIN:.0f} s"
        await asyncio.sleep(BETWEEN)
    return found


async def open_question(person: Operator, reason: str | None = None) -> Interrupt:
    """The question that waits for a person, as soon as there is one."""

    async def look() -> Interrupt | None:
        async for interrupt in person.interrupts():
            if reason in (None, interrupt.reason):
                return interrupt
        return None

    return await eventually(look)


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for has ended, too."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True
    return stat.rsplit(")", 1)[1].split()[0] == "Z"


def children_of(pid: int) -> list[int]:
    """The processes that a process has started and that have not ended."""
    text = "".join(path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))
    return [child for child in map(int, text.split()) if not gone(child)]
