"""The lease of a run: the right to write to it, in an epoch."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from .errors import LeaseLost, RouterError, RunFinished, Unavailable
from .taking import Taking, Worker
from .transport import NO_QUERY, Query, Requests, Transport

if TYPE_CHECKING:
    from . import api

log = logging.getLogger("interrupt_router")


OVER = ("completed", "failed", "cancelled")
"""States of a run that has ended."""


class Lease(Requests):
    """A run that this worker owns. Each request that writes names the epoch: a worker that lost the run writes nothing."""

    def __init__(self, transport: Transport, run_id: str, epoch: int, worker: str, seconds: float) -> None:
        self.run_id = run_id
        self.epoch = epoch
        self.worker = worker
        """The name of this worker."""
        self._transport = transport
        self._seconds = seconds

    @staticmethod
    async def take(transport: Transport, run_id: str, worker: Worker, seconds: float) -> tuple[Lease, api.WorkView]:
        """Takes a run; returns how it stands, too."""
        run = await Taking(transport, f"/v1/work/{run_id}/lease", worker, seconds).run()
        assert run is not None
        return Lease(transport, run_id, run["epoch"], worker.name, seconds), run

    async def row(self) -> api.WorkView:
        """How the run stands."""
        row: api.WorkView = await self._transport.get(f"/v1/work/{self.run_id}")
        return row

    async def send(self, method: str, path: str, query: Query = NO_QUERY, **options: Any) -> Any:
        """Reads something of the run, or writes it in the epoch."""
        in_epoch = query if method == "GET" else {"epoch": self.epoch, **query}
        return await self._transport.send(method, f"/v1/work/{self.run_id}/{path}", in_epoch, **options)

    async def keep(self) -> RouterError:
        """Renews the lease at a third of its time until it is lost; returns why."""
        body: api.RenewBody = {"lease_ms": round(self._seconds * 1000)}
        while True:
            await asyncio.sleep(self._seconds / 3)
            try:
                await self.put("lease", body)
            except Unavailable as error:
                # The server decides whether the lease has run out. If no worker took the run meanwhile, it still holds.
                log.warning("the lease of %s is not renewed: %s", self.run_id, error)
            except (LeaseLost, RunFinished) as error:
                return error

    async def release(self, *, waiting: bool = False) -> None:
        """Gives the run back. With `waiting`, it is taken again once one of its questions is over."""
        await self.delete("lease", {"waiting": waiting or None})
