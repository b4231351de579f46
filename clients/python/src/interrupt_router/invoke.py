"""How functions of the embedder are called: effects, lookups, models."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

Caller = Callable[[Callable[..., Any], tuple[Any, ...]], Awaitable[Any]]

caller: ContextVar[Caller | None] = ContextVar("caller", default=None)
"""Calls functions elsewhere: in the thread that waits for the synchronous client."""


async def invoke(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function. A plain one runs in a thread, so that it may block while leases are renewed."""
    if (elsewhere := caller.get()) is not None:
        return await elsewhere(function, arguments)
    if inspect.iscoroutinefunction(function):
        return await function(*arguments)
    result = await asyncio.to_thread(function, *arguments)
    # A lambda or a partial may have made a coroutine.
    return await result if inspect.isawaitable(result) else result
