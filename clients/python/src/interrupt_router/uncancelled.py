"""Work that a cancellation does not cut in two."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """Lets the work end although the caller is cancelled, who is cancelled after that. A second cancellation cuts it."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not task.done():
            await asyncio.wait({task})
        raise
    finally:
        # Only a second cancellation leaves it running.
        task.cancel()
