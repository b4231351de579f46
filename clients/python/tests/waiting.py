"""Waiting for things that happen in other processes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

WITHIN = 30.0
BETWEEN = 0.02


async def until(happened: Callable[[], bool]) -> None:
    """Waits until something has happened, and fails where that takes too long."""
    ends = time.monotonic() + WITHIN
    while not happened():
        assert time.monotonic() < ends, f"it did not happen within {WITHIN:.0f} s"
        await asyncio.sleep(BETWEEN)


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
