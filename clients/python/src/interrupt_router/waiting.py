"""Says what a program waits for, where that takes long."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger("interrupt_router")

SAID_AFTER = 1.0
"""After how many seconds a program says what it waits for."""


@contextmanager
def waiting_for(what: str, level: int = logging.WARNING) -> Iterator[None]:
    """The time of a wait. Warnings are printed where the program has not set up `logging`."""
    saying = asyncio.get_running_loop().call_later(SAID_AFTER, log.log, level, "waiting for %s", what)
    try:
        yield
    finally:
        saying.cancel()
