"""Takes one run after the other, and lets a handler work on each."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

from .draining import Draining
from .errors import LeaseLost, RunFinished, Unavailable
from .lease import Lease
from .ownership import Ownership
from .run import Run
from .stop import Parked, Stopped
from .taking import Taking, Worker
from .transport import LONGEST_WAIT, Transport
from .workflow import Workflow

log = logging.getLogger("interrupt_router")

Handler = Callable[[Run], Awaitable[Any]]


class WorkLoop:
    """One worker's loop over the runs of a workflow."""

    def __init__(
        self, transport: Transport, workflow: Workflow, handler: Handler, worker: Worker, lease: float, park_after: float
    ) -> None:
        self._transport = transport
        self._workflow = workflow
        self._handler = handler
        self._worker = worker
        self._lease = lease
        self._park_after = park_after

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
        path = f"/v1/workflows/{quote(self._workflow.name, safe='')}/leases"
        while True:
            taking = Taking(self._transport, path, self._worker, self._lease)
            try:
                row = await taking.run(wait=LONGEST_WAIT)
            except Unavailable as error:
                # A server that is started again tomorrow finds this worker.
                log.warning("no run is taken: %s", error)
                continue
            if row is not None:
                lease = Lease(self._transport, row["run_id"], row["epoch"], self._worker.name, self._lease)
                return Run(self._workflow, lease, row, park_after=self._park_after)

    async def _handle(self, run: Run) -> None:
        async def taken() -> Run:
            return run

        try:
            async with Ownership(taken):
                run.result = await self._handler(run)
        except (Stopped, Parked, LeaseLost, RunFinished) as stopped:
            log.info("%s: %s", run.id, stopped)
        except Exception:
            # The run's own error is recorded with the run; other runs go on.
            log.exception("the handler of %s failed", run.id)
