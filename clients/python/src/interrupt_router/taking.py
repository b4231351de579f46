"""Taking runs, so that a worker that leaves meanwhile keeps none."""

from __future__ import annotations

import asyncio
import logging
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .transport import Transport

if TYPE_CHECKING:
    from . import api

log = logging.getLogger("interrupt_router")

LET_GO = 5.0
"""How long a worker that leaves tries to let go of what it may have taken, in seconds. After that, the lease runs out."""


@dataclass(frozen=True)
class Worker:
    """Who takes runs."""

    name: str
    labels: tuple[str, ...] = ()
    """What it has that runs may need."""


class Taking:
    """A request that makes this worker the owner of a run. Sent again with its key, it has the run that it took."""

    def __init__(self, transport: Transport, path: str, worker: Worker, seconds: float) -> None:
        self._transport = transport
        self._path = path
        self._body: api.LeaseBody = {
            "worker": worker.name,
            "lease_ms": round(seconds * 1000),
            "labels": list(worker.labels),
        }
        self._key = {"Idempotency-Key": str(uuid.uuid4())}

    async def run(self, *, wait: float = 0.0) -> api.WorkView | None:
        """The run, if there is one. Cancelled, it leaves this worker none, whatever the server did."""
        try:
            return await self._send(wait)
        except asyncio.CancelledError:
            try:
                await asyncio.wait_for(self._let_go(), LET_GO)
            except Exception as error:
                # The worker leaves in any case.
                log.warning("a run may rest until its lease ends: %r", error)
            raise

    async def _send(self, wait: float = 0.0) -> api.WorkView | None:
        row: api.WorkView | None = await self._transport.post(self._path, self._body, headers=self._key, wait=wait)
        return row

    async def _let_go(self) -> None:
        row = await self._send()
        if row is not None:
            query: api.ReleaseQuery = {"epoch": row["epoch"]}
            await self._transport.delete(f"/v1/work/{row['run_id']}/lease", query)
