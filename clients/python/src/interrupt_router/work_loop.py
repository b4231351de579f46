"""Takes one run after the other, and lets a handler work on each."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from .draining import Draining
from .errors import LeaseLost, RunFinished, Unavailable
from .lease import Worker, take
from .ownership import Ownership
from .run import Run
from .stop import Parked, Stopped
from .transport import LONGEST_WAIT, Transport
from .workflow import Workflow

log = logging.getLogger("interrupt_router")

Handler = Callable[[Run], Awaitable[Any]]


@dataclass
class WorkLoop:
    """One worker's loop over the runs of a workflow."""

    transport: Transport
    workflow: Workflow
    handler: Handler
    worker: Worker
    park_after: float

    async def run(self, workers: int) -> None:
        """Works until it is cancelled. The runs that it has then are given back."""
        free = asyncio.Semaphore(workers)
        under_way: set[asyncio.Task[None]] = set()

        def done(task: asyncio.Task[None]) -> None:
            under_way.discard(task)
            free.release()

        with Draining.of_task():
            try:
                while True:
                    await free.acquire()
                    task = asyncio.create_task(self._handle(await self._next()))
                    under_way.add(task)
                    task.add_done_callback(done)
            finally:
                for task in under_way:
                    task.cancel()
                await asyncio.gather(*under_way, return_exceptions=True)

    async def _next(self) -> Run:
        """Waits for a run that can go on."""
        path = f"/v1/workflows/{quote(self.workflow.name, safe='')}/leases"
        while True:
            try:
                taken = await take(self.transport, path, self.worker, wait=LONGEST_WAIT)
            except Unavailable as error:
                # A server that is started again tomorrow finds this worker.
                log.warning("no run is taken: %s", error)
            else:
                if taken is not None:
                    return Run(self.workflow, *taken, park_after=self.park_after)

    async def _handle(self, run: Run) -> None:
        async def taken() -> Run:
            return run

        try:
            async with Ownership(taken):
                run.result = await self.handler(run)
        except (Stopped, Parked, LeaseLost, RunFinished) as stopped:
            log.info("%s: %s", run.id, stopped)
        except Exception:
            # The run's own error is recorded with the run; other runs go on.
            log.exception("the handler of %s failed", run.id)
