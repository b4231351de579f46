"""The lease of a run: the right to write to it, in an epoch."""

from __future__ import annotations

import asyncio
import logging
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from .errors import LeaseLost, RouterError, RunFinished, Unavailable
from .transport import NO_QUERY, Query, Requests, Transport

if TYPE_CHECKING:
    from . import api

log = logging.getLogger("interrupt_router")

OVER = ("completed", "failed", "cancelled")
"""States of a run that has ended."""

LET_GO = 5.0
"""How long a worker that leaves tries to let go of what it may have taken, in seconds. After that, the lease runs out."""


@dataclass(frozen=True)
class Worker:
    """Who takes runs."""

    name: str
    labels: tuple[str, ...]
    """What it has that runs may need."""
    seconds: float
    """For how long it has a run when it does not renew the lease."""


Taken: TypeAlias = "tuple[Lease, api.WorkView]"
"""A lease, and how its run stands."""


class Lease(Requests):
    """A run that this worker owns. Each request that writes names the epoch: a worker that lost the run writes nothing."""

    def __init__(self, transport: Transport, run_id: str, epoch: int, seconds: float) -> None:
        self.run_id = run_id
        self.epoch = epoch
        self._transport = transport
        self._seconds = seconds

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


async def take(transport: Transport, path: str, worker: Worker, *, wait: float = 0.0) -> Taken | None:
    """Takes a run, if there is one. Cancelled, it leaves the worker none, whatever the server did."""
    lease_ms, labels = round(worker.seconds * 1000), list(worker.labels)
    body: api.LeaseBody = {"worker": worker.name, "lease_ms": lease_ms, "labels": labels}
    # Sent again with its key, the request has the run that it took.
    key = {"Idempotency-Key": str(uuid.uuid4())}

    async def send(wait: float) -> Taken | None:
        row: api.WorkView | None = await transport.post(path, body, headers=key, wait=wait)
        return (Lease(transport, row["run_id"], row["epoch"], worker.seconds), row) if row else None

    async def let_go() -> None:
        if taken := await send(0.0):
            await taken[0].release()

    try:
        return await send(wait)
    except asyncio.CancelledError:
        try:
            await asyncio.wait_for(let_go(), LET_GO)
        except Exception as error:
            # The worker leaves in any case.
            log.warning("a run may rest until its lease ends: %r", error)
        raise
