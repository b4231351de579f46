"""Makes blocking methods of asynchronous ones.

There is one implementation, the asynchronous one. A facade holds an object of it, and `blocking` turns each method into one
that waits; type checkers see the same parameters and results. Generating a second source instead would double what is to
be read and tested, and the lease would still need a thread: it is renewed while the caller's code works.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from ..errors import RouterError
from .portal import Portal

A = TypeVar("A")
C = TypeVar("C", bound=AbstractAsyncContextManager[Any])
F = TypeVar("F", bound="Client[Any]")
P = ParamSpec("P")
R = TypeVar("R")
W = TypeVar("W")


class Facade(Generic[A]):
    """A blocking view of an asynchronous object."""

    def __init__(self, inner: A, portal: Portal | None = None) -> None:
        self._inner = inner
        self._opened = portal

    @property
    def _portal(self) -> Portal:
        if self._opened is None:
            raise RouterError("the client is not open", hint=f"use `with {type(self).__name__}(...) as ...`")
        return self._opened


class Client(Facade[C]):
    """A blocking view of a client. Open it with ``with``."""

    def __enter__(self: F) -> F:
        portal = Portal()
        try:
            portal.call(self._inner.__aenter__())
        except BaseException:
            portal.close()
            raise
        self._opened = portal
        return self

    def __exit__(self, *_: object) -> None:
        self._portal.call(self._inner.__aexit__(None, None, None))
        self._portal.close()


class Shown(Generic[R]):
    """The attribute of the asynchronous object that has the same name. It needs no wait."""

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    def __get__(self, facade: Facade[Any], owner: type[Any]) -> R:
        shown: R = getattr(facade._inner, self._name)
        return shown


def showing(
    method: Callable[Concatenate[A, P], R], view: Callable[[R, Portal], W]
) -> Callable[Concatenate[Facade[A], P], W]:
    """The method that returns a view of what the asynchronous one returns."""

    @functools.wraps(method)
    def call(self: Facade[A], /, *args: P.args, **kwargs: P.kwargs) -> W:
        portal = self._portal
        return view(method(self._inner, *args, **kwargs), portal)

    return call


def blocking(
    method: Callable[Concatenate[A, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[Facade[A], P], R]:
    """The method that waits for the result."""
    return showing(method, lambda work, portal: portal.call(work))


def wrapping(
    method: Callable[Concatenate[A, P], Coroutine[Any, Any, R]], view: Callable[[R, Portal], W]
) -> Callable[Concatenate[Facade[A], P], W]:
    """The method that waits for the result, and returns a view of it."""
    return showing(method, lambda work, portal: view(portal.call(work), portal))


def iterating(
    method: Callable[Concatenate[A, P], AsyncIterator[R]],
) -> Callable[Concatenate[Facade[A], P], Iterator[R]]:
    """The method that waits for each entry."""
    return showing(method, each)


def each(entries: AsyncIterator[R], portal: Portal) -> Iterator[R]:
    """Waits for each entry of an asynchronous generator, and closes it with the loop that reads them."""

    async def following() -> R:
        return await entries.__anext__()

    async def close() -> None:
        await entries.aclose()  # type: ignore[attr-defined]  # callers annotate generators as iterators

    try:
        while True:
            yield portal.call(following())
    except StopAsyncIteration:
        return
    finally:
        portal.call(close())
