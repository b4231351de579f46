"""The worker's client of a server."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .connection import Connection, fixed
from .errors import RouterError, RunFinished, RunOwned
from .lease import OVER, Taken, Worker, take
from .local import LocalServer
from .operator import Operator
from .ownership import Ownership
from .run import Run
from .settings import server_url, token
from .transport import DEADLINE, Transport
from .waiting import waiting_for
from .work_loop import WorkLoop
from .workflow import Workflow

if TYPE_CHECKING:
    from . import api

LEASE = 30.0
"""How long a run stays with a worker that has died, in seconds."""

PARK_AFTER = 30.0
"""How long a run of `Router.work` waits for people in memory, in seconds."""


class Router:
    """A server, as workers use it: it registers workflows and owns runs. Open it with ``async with``.

    The address comes from the argument or IRQ_SERVER, the token from the argument, IRQ_TOKEN or the file IRQ_TOKEN_FILE.
    `Router.local` starts a server of its own.
    """

    def __init__(
        self,
        base_url: str | None = None,
        token: str | None = None,
        *,
        worker: str | None = None,
        labels: Iterable[str] = (),
        deadline: float = DEADLINE,
    ) -> None:
        self.worker = worker or f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        """The name of this worker; no other one may have it."""
        self.labels = tuple(labels)
        """What this worker has that runs may need. It takes no run that needs anything else."""
        self.server: LocalServer | None = None
        """The server that `Router.local` starts."""
        self._given = (base_url, token)
        self._deadline = deadline
        self._connection: Connection | None = None
        self._registered: set[Workflow] = set()

    @classmethod
    def local(
        cls,
        store: str | os.PathLike[str] | None = None,
        *,
        binary: str | os.PathLike[str] | None = None,
        worker: str | None = None,
        labels: Iterable[str] = (),
        deadline: float = DEADLINE,
    ) -> Router:
        """A router with a server of its own: `irq serve` on this machine, which ends with this process.

        `store` is the file that keeps everything, by default that of `irq`. `binary` is the program; without it IRQ_BINARY,
        the one of the wheel, or the one on PATH. ``router.server.link`` opens the page.
        """
        router = cls(worker=worker, labels=labels, deadline=deadline)
        router.server = LocalServer(binary=binary, store=store)
        return router

    async def __aenter__(self) -> Router:
        if self.server is not None:
            await self.server.start()
            self._connection = Connection(self.server.address, deadline=self._deadline, trusts_environment=False)
        else:
            self._connection = Connection(server_url(self._given[0]), deadline=self._deadline)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None
        if self.server is not None:
            await self.server.close()

    async def register(self, workflow: Workflow) -> int:
        """Registers a workflow; returns its version. `run` and `work` do so by themselves."""
        registered: api.RegisteredView = await self._transport(workflow).put(_path(workflow), workflow.registration())
        self._registered.add(workflow)
        return registered["version"]

    def run(
        self,
        workflow: Workflow,
        *,
        alias: str | None = None,
        input: object = None,  # noqa: A002 - the word of the protocol
        needs: Iterable[str] = (),
        lease: float = LEASE,
        wait_for_owner: float = 2 * LEASE,
    ) -> Ownership:
        """Creates a run, or takes the one with this alias and input, and owns it for the time of a block::

            async with router.run(desk, alias="ticket-17", input={"order": 17}) as run:
                ...

        Only workers that have all labels of `needs` take it, this one included.

        A worker that was killed still owns its run until its lease of `lease` seconds runs out; so this waits up to
        `wait_for_owner` seconds before it raises `RunOwned`. It raises `RunFinished` where the run has ended, and
        `RunPaused` where a person has to resume it.
        """

        async def take() -> Run:
            await self._ensure_registered(workflow)
            transport = self._transport(workflow)
            new: api.NewWorkBody = {"input": input, "thread_id": alias, "needs": list(needs)}
            row: api.WorkView = await transport.post(f"{_path(workflow)}/runs", new)
            if row["state"] in OVER:
                ended = {"result": None, **row}
                raise RunFinished(f"{row['run_id']} is {row['state']}", code="run-finished", problem=ended)
            owner = f" of {row['worker']}, which may have died" if row.get("worker") else ""
            with waiting_for(f"{row['run_id']}: the lease{owner}"):
                taken = await self._take(transport, row["run_id"], lease, time.monotonic() + wait_for_owner)
            return Run(workflow, *taken)

        return Ownership(take)

    async def work(
        self,
        workflow: Workflow,
        handler: Callable[[Run], Awaitable[Any]],
        *,
        workers: int = 4,
        lease: float = LEASE,
        park_after: float = PARK_AFTER,
    ) -> None:
        """Takes run after run, up to `workers` at once, and calls the handler with each, until it is cancelled.

        What the handler returns is the run's result. A run that waits for people for longer than `park_after` seconds is
        given back, and taken again once they have decided; the handler then runs from its beginning.
        """
        await self._ensure_registered(workflow)
        worker = Worker(self.worker, self.labels, lease)
        await WorkLoop(self._transport(workflow), workflow, handler, worker, park_after).run(workers)

    def operator(self, name: str = "operator", role: str = "supervisor") -> Operator:
        """A person's client of the server that `Router.local` started."""
        if self.server is None:
            raise RouterError("only `Router.local` makes tokens for people", hint="use `Operator(url, token)`")
        return Operator(self.server.address, self.server.person_token(name, role))

    async def _ensure_registered(self, workflow: Workflow) -> None:
        if workflow not in self._registered:
            await self.register(workflow)

    async def _take(self, transport: Transport, run_id: str, lease: float, until: float) -> Taken:
        while True:
            try:
                taken = await take(transport, f"/v1/work/{run_id}/lease", Worker(self.worker, self.labels, lease))
            except RunOwned:
                if time.monotonic() >= until:
                    raise
                await asyncio.sleep(min(0.5, lease / 3))
            else:
                assert taken is not None
                return taken

    def _transport(self, workflow: Workflow) -> Transport:
        if self._connection is None:
            raise RouterError("the router is not open", hint="use `async with Router(...) as router`")
        if self.server is not None:
            return self._connection.transport(self.server.worker_token(workflow.name))
        return self._connection.transport(fixed(token(self._given[1])))


def _path(workflow: Workflow) -> str:
    return f"/v1/workflows/{quote(workflow.name, safe='')}"
