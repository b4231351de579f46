"""The worker's client of a server, without ``async``."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

from .. import ownership, router, run
from ..draining import Draining
from ..invoke import caller
from ..local import LocalServer
from ..transport import DEADLINE
from ..uncancelled import to_its_end
from ..workflow import Workflow
from .facade import Client, Facade, Shown, blocking, showing
from .operator import Operator
from .portal import Portal
from .run import Run


class Ownership(Facade[ownership.Ownership]):
    """The block of ``with router.run(...) as run``."""

    def __enter__(self) -> Run:
        own = Portal(self._portal)
        with ExitStack() as stack:
            stack.enter_context(Draining(own.interrupt))
            run = Run(own.call(self._inner.__aenter__()), own)
            self._stack = stack.pop_all()
        return run

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        with self._stack:
            self._portal.call(self._inner.__aexit__(kind, error, trace))


class Router(Client[router.Router]):
    """A server, as workers use it; see `interrupt_router.Router`. Open it with ``with``."""

    register = blocking(router.Router.register)
    run = showing(router.Router.run, Ownership)
    server = Shown[LocalServer | None]()
    """The server that `Router.local` starts."""

    def __init__(
        self,
        base_url: str | None = None,
        token: str | None = None,
        *,
        worker: str | None = None,
        labels: Iterable[str] = (),
        deadline: float = DEADLINE,
    ) -> None:
        super().__init__(router.Router(base_url, token, worker=worker, labels=labels, deadline=deadline))

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
        """A router with a server of its own, which ends with this process; see `interrupt_router.Router.local`."""
        made = cls()
        made._inner = router.Router.local(store, binary=binary, worker=worker, labels=labels, deadline=deadline)
        return made

    def work(
        self,
        workflow: Workflow,
        handler: Callable[[Run], Any],
        *,
        workers: int = 4,
        lease: float = router.LEASE,
        park_after: float = router.PARK_AFTER,
    ) -> None:
        """Takes run after run, and calls the handler with each, in a thread; see `interrupt_router.Router.work`.

        A cancellation reaches a handler from its next call, or the one that it waits in, as `asyncio.CancelledError`.
        """
        portal = Portal(self._portal)

        async def handle(owned: run.Run) -> Any:
            # The thread that called `work` waits for all of it, so each handler gets another one.
            caller.set(None)
            own = Portal(portal)
            handling = asyncio.to_thread(handler, Run(owned, own))
            return await to_its_end(handling, on_cancel=own.drain)

        with Draining(portal.interrupt):
            portal.call(self._inner.work(workflow, handle, workers=workers, lease=lease, park_after=park_after))

    def operator(self, name: str = "operator", role: str = "supervisor") -> Operator:
        """A person's client of the server that `Router.local` started."""
        made = Operator()
        made._inner = self._inner.operator(name, role)
        return made
