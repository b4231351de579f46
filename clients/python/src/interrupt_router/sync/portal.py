"""Runs the asynchronous client in a thread of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import queue
import threading
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from ..draining import ending
from ..invoke import caller

T = TypeVar("T")

# A signal that another thread gets, or that comes just before a thread waits, does not wake it.
LOOKS_UP = 1.0
"""After how many seconds a thread that waits looks whether a signal has come."""


class _Here(threading.local):
    depth = 0
    """In how many calls this thread is."""


def _cancel(futures: Iterable[asyncio.Future[Any]]) -> None:
    for future in futures:
        future.cancel()


class Portal:
    """An event loop in a thread. Leases are renewed there while the caller's thread works or waits.

    A portal that is made of another one uses its loop, and can be drained alone.
    """

    def __init__(self, of: Portal | None = None) -> None:
        self._calls: set[asyncio.Task[Any]] = set()
        """What threads wait for, apart from calls within functions that the loop waits for."""
        self._is_drained = False
        self._here: _Here = of._here if of else _Here()
        self._loop: asyncio.AbstractEventLoop = of._loop if of else self._start()

    def _start(self) -> asyncio.AbstractEventLoop:
        started = concurrent.futures.Future[asyncio.AbstractEventLoop]()

        async def until_closed() -> None:
            self._closed = asyncio.Event()
            started.set_result(asyncio.get_running_loop())
            await self._closed.wait()

        self._thread = threading.Thread(target=asyncio.run, args=[until_closed()], name="interrupt_router", daemon=True)
        self._thread.start()
        return started.result()

    def close(self) -> None:
        """Cancels what still runs, and ends the thread."""
        self._loop.call_soon_threadsafe(self._closed.set)
        self._thread.join()

    def drain(self) -> None:
        """Cancels what threads wait for, and refuses what they ask for next. What an effect calls is a part of it."""
        self._is_drained = True
        self._loop.call_soon_threadsafe(_cancel, self._calls)

    def interrupt(self, number: int) -> None:
        """A signal: drains it, and raises where this thread does something else than to wait for it."""
        self.drain()
        if not self._here.depth:
            raise ending(number)

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Does something in the loop, and waits for it. Functions of the embedder are called here, in this thread."""
        depth = self._here.depth
        calls: queue.SimpleQueue[Callable[[], None] | asyncio.Future[T]] = queue.SimpleQueue()
        results: set[asyncio.Future[Any]] = set()

        async def here(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
            called = concurrent.futures.Future[Any]()

            def call() -> None:
                if called.set_running_or_notify_cancel():
                    try:
                        called.set_result(function(*arguments))
                    except Exception as error:
                        called.set_exception(error)

            results.add(result := asyncio.wrap_future(called))
            calls.put(call)
            return await result

        async def main() -> T:
            caller.set(here)
            return await work

        def start() -> None:
            if depth == 0 and self._is_drained:
                work.close()
                calls.put(refused := self._loop.create_future())
                refused.cancel()
                return
            task = self._loop.create_task(main())
            results.add(task)
            task.add_done_callback(calls.put)
            if depth == 0:
                self._calls.add(task)
                task.add_done_callback(self._calls.discard)

        self._here.depth = depth + 1
        try:
            self._loop.call_soon_threadsafe(start)
            while True:
                try:
                    call = calls.get(timeout=LOOKS_UP)
                except queue.Empty:
                    continue
                if isinstance(call, asyncio.Future):
                    return call.result()
                call()
        except BaseException:
            # This thread answers no more: a second Ctrl+C, for one.
            self._loop.call_soon_threadsafe(_cancel, results)
            raise
        finally:
            self._here.depth = depth
