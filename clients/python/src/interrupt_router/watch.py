"""Watches a run in the background: keeps its lease, and hears of stops."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from .control import Control, control_in
from .errors import LeaseLost, RouterError, RunFinished, Unavailable
from .lease import Lease
from .stop import Parked, Stopped
from .transport import LONGEST_WAIT
from .view import Signals

if TYPE_CHECKING:
    from . import api

log = logging.getLogger("interrupt_router")

T = TypeVar("T")


class Watch:
    """Two background tasks of an owned run, and what they have found."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._signals = Signals()
        self._lost: RouterError | None = None
        self._told: set[str] = set()
        """The stops that code was told of, by their ids."""
        self._parked: dict[str, Parked] = {}
        """The questions that code was told to wait for in another process, by their keys."""
        self._changed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begins to watch."""
        self._tasks = [asyncio.create_task(self._keep()), asyncio.create_task(self._listen())]

    async def close(self) -> None:
        """Ends both tasks."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def signals(self) -> Signals:
        """Asks the server what has come."""
        query: api.SignalsQuery = {"epoch": self._lease.epoch}
        signals = Signals.of_json(await self._lease.get("signals", query))
        self._set_signals(signals)
        return signals

    def check(self, agent_id: str, *, immediate_only: bool = False) -> None:
        """Raises where the agent must not go on."""
        if self._lost is not None:
            raise self._lost
        stop = self._signals.stop_of(agent_id)
        if stop is not None and (stop.is_immediate or not immediate_only):
            self._told.add(stop.interrupt_id)
            raise Stopped(stop)

    def park(self, key: str) -> Parked:
        """What to raise where a question waits for too long."""
        return self._parked.setdefault(key, Parked(key))

    def unpark(self, key: str) -> None:
        """A question is waited for no more."""
        self._parked.pop(key, None)

    def ended_by(self, agent_id: str, error: BaseException | None) -> Control | BaseException | None:
        """What ended the block of an agent: what came from outside, whatever the code made of it, else its error.

        Code that returns has ended by itself, unless it was told of something and did not let it pass.
        """
        if self._lost is not None and error is not None:
            return self._lost
        for concerned in ("root", agent_id):
            stop = self._signals.stop_of(concerned)
            if stop is not None and (error is not None or stop.interrupt_id in self._told):
                return Stopped(stop)
        if error is not None and not isinstance(error, Exception):
            return error  # a cancellation
        parked = next(iter(self._parked.values()), None)
        return (error and control_in(error)) or parked or error

    async def guard(self, agent_id: str, work: Coroutine[Any, Any, T], *, immediate_only: bool = False) -> T:
        """Does something that may take long. A stop of the agent cancels it, and is raised."""
        doing = asyncio.ensure_future(work)
        waking = asyncio.ensure_future(self._stopped(agent_id, immediate_only=immediate_only))
        try:
            await asyncio.wait({doing, waking}, return_when=asyncio.FIRST_COMPLETED)
            if not doing.done():
                await waking
            return await doing
        finally:
            doing.cancel()
            waking.cancel()
            await asyncio.gather(doing, waking, return_exceptions=True)

    async def _stopped(self, agent_id: str, *, immediate_only: bool) -> None:
        """Raises as soon as the agent must not go on."""
        while True:
            changed = self._changed
            self.check(agent_id, immediate_only=immediate_only)
            await changed.wait()

    async def _keep(self) -> None:
        self._lose(await self._lease.keep())

    async def _listen(self) -> None:
        after = None
        while True:
            try:
                query: api.SignalsQuery = {"epoch": self._lease.epoch, "after": after}
                body = await self._lease.get("signals", query, wait=LONGEST_WAIT)
            except Unavailable as error:
                log.warning("the signals of %s are not read: %s", self._lease.run_id, error)
                continue
            except (LeaseLost, RunFinished) as error:
                self._lose(error)
                return
            signals = Signals.of_json(body)
            after = signals.cursor
            self._set_signals(signals)

    def _set_signals(self, signals: Signals) -> None:
        # Two requests may be answered in the other order.
        if signals.cursor >= self._signals.cursor:
            self._signals = signals
            self._notify()

    def _lose(self, error: RouterError) -> None:
        # That the run has ended is no news to the worker that ends it.
        log.log(logging.WARNING if isinstance(error, LeaseLost) else logging.DEBUG, "%s", error.detail)
        self._lost = error
        self._notify()

    def _notify(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
