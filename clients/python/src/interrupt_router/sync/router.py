"""The worker's client of a server, without ``async``."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from types import TracebackType
from typing import Any

from .. import ownership, router, run
from ..invoke import caller
from ..local import LocalServer
from ..transport import DEADLINE
from ..workflow import Workflow
from .facade import Facade, blocking
from .operator import Operator
from .portal import open_portal
from .run import Run


class Router(Facade[router.Router]):
    """A server, as workers use it; see `interrupt_router.Router`. Open it with ``with``."""

    register = blocking(router.Router.register)

    def __init__(
        self,
        base_url: str | None = None,
        token: str | None = None,
        *,
        worker: str | None = None,
        deadline: float = DEADLINE,
    ) -> None:
        super().__init__(router.Router(base_url, token, worker=worker, deadline=deadline))

    @classmethod
    def local(
        cls,
        store: str | os.PathLike[str] | None = None,
        *,
        binary: str | os.PathLike[str] | None = None,
        worker: str | None = None,
        deadline: float = DEADLINE,
    ) -> Router:
        """A router with a server of its own, which ends with this process; see `interrupt_router.Router.local`."""
        made = cls()
        made._inner = router.Router.local(store, binary=binary, worker=worker, deadline=deadline)
        return made

    def __enter__(self) -> Router:
        self._opened = open_portal(self._inner)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._portal.call(self._inner.__aexit__(kind, error, trace))
        self._portal.close()

    @property
    def server(self) -> LocalServer | None:
        """The server that `Router.local` starts."""
        return self._inner.server

    def run(
        self,
        workflow: Workflow,
        *,
        alias: str | None = None,
        input: object = None,  # noqa: A002 - the word of the protocol
        lease: float = router.LEASE,
        wait_for_owner: float = 2 * router.LEASE,
    ) -> Ownership:
        """Creates or takes a run, and owns it for the time of a block; see `interrupt_router.Router.run`."""
        owned = self._inner.run(workflow, alias=alias, input=input, lease=lease, wait_for_owner=wait_for_owner)
        return Ownership(owned, self._portal)

    def work(
        self,
        workflow: Workflow,
        handler: Callable[[Run], Any],
        *,
        workers: int = 4,
        lease: float = router.LEASE,
        park_after: float = router.PARK_AFTER,
    ) -> None:
        """Takes run after run, and calls the handler with each, in a thread; see `interrupt_router.Router.work`."""
        portal = self._portal

        async def handle(owned: run.Run) -> Any:
            # The thread that called `work` waits for all of it, so each handler gets another one.
            caller.set(None)
            return await asyncio.to_thread(handler, Run(owned, portal))

        portal.call(self._inner.work(workflow, handle, workers=workers, lease=lease, park_after=park_after))

    def operator(self, name: str = "operator", role: str = "supervisor") -> Operator:
        """A person's client of the server that `Router.local` started."""
        made = Operator()
        made._inner = self._inner.operator(name, role)
        return made


class Ownership(Facade[ownership.Ownership]):
    """The block of ``with router.run(...) as run``."""

    def __enter__(self) -> Run:
        return Run(self._portal.call(self._inner.__aenter__()), self._portal)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._portal.call(self._inner.__aexit__(kind, error, trace))
