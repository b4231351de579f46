"""Work that a cancellation does not cut in two."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def to_its_end(
    work: Coroutine[Any, Any, T],
    under_way: set[asyncio.Task[Any]] | None = None,
    *,
    on_cancel: Callable[[], object] = lambda: None,
) -> T:
    """Lets the work end however often the caller is cancelled, who is cancelled after that. Until then it is `under_way`."""
    task = asyncio.create_task(work)
    if under_way is not None:
        under_way.add(task)
        task.add_done_callback(under_way.discard)
    cancelled = None
    # Some libraries cancel again and again.
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
            on_cancel()
    if cancelled is None:
        return task.result()
    raise cancelled from None if task.cancelled() else task.exception()
