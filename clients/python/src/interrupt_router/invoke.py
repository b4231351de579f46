"""How functions of the embedder are called: effects, lookups, models."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import decimal
import enum
import hashlib
import inspect
import json
import pathlib
import uuid
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

Caller = Callable[[Callable[..., Any], tuple[Any, ...]], Awaitable[Any]]

caller: ContextVar[Caller | None] = ContextVar("caller", default=None)
"""Calls functions elsewhere: in the thread that waits for the synchronous client."""


async def invoke(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function. A plain one runs in a thread, so that it may block while leases are renewed."""
    check(function)
    if (elsewhere := caller.get()) is not None:
        return await elsewhere(function, arguments)
    if inspect.iscoroutinefunction(function):
        return await function(*arguments)
    result = await asyncio.to_thread(function, *arguments)
    # A lambda or a partial may have made a coroutine.
    return await result if inspect.isawaitable(result) else result


def check(function: Callable[..., Any]) -> None:
    """Refuses a function that cannot be called where it would be."""
    if caller.get() is not None and inspect.iscoroutinefunction(function):
        name = getattr(function, "__qualname__", repr(function))
        raise TypeError(f"`{name}` is a coroutine function, and this client is not asynchronous: give it a plain function")


def digest(arguments: tuple[Any, ...]) -> str | None:
    """Tells arguments apart, as far as they have a text that is the same in every process: other objects are left out."""
    try:
        text = json.dumps(arguments, default=_plain, sort_keys=True) if arguments else None
    except (TypeError, ValueError, RecursionError):
        return None
    return text and f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if callable(dump := getattr(value, "model_dump", None)):  # a pydantic model
        return dump(mode="json")
    if isinstance(value, (datetime.date, decimal.Decimal, enum.Enum, pathlib.PurePath, uuid.UUID, bytes)):
        return str(value)
    return None
