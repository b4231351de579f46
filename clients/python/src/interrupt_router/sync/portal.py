"""Runs the asynchronous client in a thread of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import queue
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from ..draining import ending
from ..invoke import caller

T = TypeVar("T")


class Portal:
    """An event loop in a thread. Leases are renewed there while the caller's thread works or waits.

    A portal that is made of another one uses its loop, and can be drained alone.
    """

    def __init__(self, of: Portal | None = None) -> None:
        self._calls: set[asyncio.Task[Any]] = set()
        """What threads wait for, apart from calls within functions that the loop waits for."""
        self._is_drained = False
        self._here: threading.local = of._here if of else threading.local()
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

        def cancel() -> None:
            for task in self._calls:
                task.cancel()

        self._is_drained = True
        self._loop.call_soon_threadsafe(cancel)

    def interrupt(self, number: int) -> None:
        """A signal: drains it, and raises where this thread does something else than to wait for it."""
        self.drain()
        if not self._depth:
            raise ending(number)

    @property
    def _depth(self) -> int:
        """In how many calls this thread is."""
        depth: int = getattr(self._here, "depth", 0)
        return depth

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Does something in the loop, and waits for it. Functions of the embedder are called here, in this thread."""
        depth = self._depth
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

        def abandon() -> None:
            for result in results:
                result.cancel()

        self._here.depth = depth + 1
        try:
            self._loop.call_soon_threadsafe(start)
            while not isinstance(call := calls.get(), asyncio.Future):
                call()
            return call.result()
        except BaseException:
            # This thread answers no more: a second Ctrl+C, for one.
            self._loop.call_soon_threadsafe(abandon)
            raise
        finally:
            self._here.depth = depth
