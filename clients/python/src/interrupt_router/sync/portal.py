"""Runs the asynchronous client in a thread of its own."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from ..invoke import caller

T = TypeVar("T")


@dataclass
class _Call:
    """A function of the embedder, to be called in the thread that waits."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    result: asyncio.Future[Any]


class Portal:
    """An event loop in a thread. Leases are renewed there while the caller's thread works or waits."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="interrupt_router", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Cancels what still runs, and ends the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Does something in the loop, and waits for it. Functions of the embedder are called here, in this thread."""
        calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()

        async def here(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
            call = _Call(function, arguments, self._loop.create_future())
            calls.put(call)
            return await call.result

        async def main() -> T:
            caller.set(here)
            return await work

        task = asyncio.run_coroutine_threadsafe(main(), self._loop)
        task.add_done_callback(lambda _: calls.put(None))
        try:
            while (call := calls.get()) is not None:
                self._answer(call)
        except BaseException:
            # Ctrl+C, which only the main thread sees.
            task.cancel()
            raise
        return task.result()

    def _answer(self, call: _Call) -> None:
        def settle(result: Any, error: Exception | None) -> None:
            if call.result.cancelled():
                return
            if error is not None:
                call.result.set_exception(error)
            else:
                call.result.set_result(result)

        try:
            result = call.function(*call.arguments)
        except Exception as error:
            self._loop.call_soon_threadsafe(settle, None, error)
        except BaseException:
            self._loop.call_soon_threadsafe(call.result.cancel)
            raise
        else:
            self._loop.call_soon_threadsafe(settle, result, None)

    def _run(self) -> None:
        loop = self._loop
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()


def open_portal(client: AbstractAsyncContextManager[Any]) -> Portal:
    """A portal with a client that is open in it."""
    portal = Portal()
    try:
        portal.call(client.__aenter__())
    except BaseException:
        portal.close()
        raise
    return portal
