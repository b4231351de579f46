"""Owning a run for the time of a block: takes it, watches it, and says how it ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from .control import OF_THE_WORKER
from .draining import Draining
from .errors import LeaseLost, RouterError, RunFinished
from .run import Run
from .stop import Parked, Stopped
from .uncancelled import to_its_end

if TYPE_CHECKING:
    from . import api

log = logging.getLogger("interrupt_router")


class Ownership:
    """The block of ``async with router.run(...) as run``.

    The run is completed when the block returns, failed when it raises, and given back when the worker is stopped or cannot
    go on. A stop that people asked for is reported, and only then they are told that the run has stopped. What ended it from
    outside is raised, also where the code wrapped it into another error or let nothing of it pass.
    """

    def __init__(self, take: Callable[[], Awaitable[Run]]) -> None:
        self._take = take
        self._run: Run | None = None

    async def __aenter__(self) -> Run:
        with ExitStack() as stack:
            stack.enter_context(Draining.of_task())
            self._run = await self._take()
            self._run.watch.start()
            self._stack = stack.pop_all()
        return self._run

    async def __aexit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        run = self._run
        assert run is not None
        with self._stack:
            try:
                ended_by = await to_its_end(_settle(run, error))
            finally:
                await run.watch.close()
            if ended_by is not error and ended_by is not None and (error is None or isinstance(error, Exception)):
                raise ended_by from error


async def _settle(run: Run, error: BaseException | None) -> BaseException | None:
    """Says how the run ended; returns what ended it."""
    if run.effects:
        # They were begun beside what raised, and are whole only with their results.
        await asyncio.wait(run.effects)
    ended_by = error if run.has_ended else run.watch.ended_by(run.root.id, error)
    if ended_by is None:
        await run.end("completed")
        return None
    try:
        await _settle_error(run, ended_by)
    except (LeaseLost, RunFinished) as lost:
        return lost
    except RouterError as second:
        # The first error is the one to tell; the lease runs out by itself.
        log.warning("how %s ended could not be reported: %s", run.id, second)
    return ended_by


async def _settle_error(run: Run, error: BaseException) -> None:
    if isinstance(error, (LeaseLost, RunFinished)):
        return
    if isinstance(error, Stopped):
        stop = error.stop
        body: api.StoppedBody = {"agent_id": stop.agent_id if stop.concerns_agent_alone else None}
        await run.lease.post("stopped", body)
        if stop.concerns_agent_alone:
            # The code did not go on without that agent, so there is nothing left to do.
            await run.cancel(f"{stop.agent_id} was stopped: {stop.reason}")
    elif isinstance(error, Parked):
        await run.lease.release(waiting=True)
    elif isinstance(error, OF_THE_WORKER) or not isinstance(error, Exception):
        await run.lease.release()
    else:
        await run.end("failed", f"{type(error).__name__}: {error}"[:500])
