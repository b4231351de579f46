"""A run that this worker owns."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from .agent import Agent, OpeningAgent
from .errors import Invalid, NotFound, RunFinished
from .kept import Unkeepable, keep
from .lease import Lease
from .view import Checkpoint, Signals
from .watch import Watch
from .workflow import Workflow

if TYPE_CHECKING:
    from . import api


class Run:
    """A run that this worker owns, until the block of ``router.run(...)`` ends."""

    def __init__(self, workflow: Workflow, lease: Lease, row: api.WorkView, *, park_after: float = math.inf) -> None:
        self.workflow = workflow
        self.lease = lease
        """The right to write to it."""
        self.watch = Watch(lease)
        """What has come for it in the background."""
        self.park_after = park_after
        """After how many seconds a question that waits for people raises `Parked`."""
        self.id: str = row["run_id"]
        """Its id."""
        self.alias: str | None = row.get("thread_id")
        """Your name for it."""
        self.input: Any = row["input"]
        """What it works on."""
        self.root = Agent(self, "root", workflow.root_kind)
        """Its own agent, of the workflow's first kind. It is there from the beginning."""
        self.result: Any = None
        """What comes of it. Set it before the block ends; people read it, and `RunFinished.result` has it."""
        self.effects: set[asyncio.Task[Any]] = set()
        """The effects under way."""
        self._busy = 0
        self.has_ended = False

    def agent(self, kind: str, name: str | None = None) -> OpeningAgent:
        """Starts an agent below ``root``, called like its kind unless `name` says otherwise. Await it, or enter it."""
        return self.root.agent(kind, name)

    async def signals(self) -> Signals:
        """What has come: stops, requests to interrupt, messages, decisions."""
        return await self.watch.signals()

    async def interrupted(self) -> bool:
        """Whether the run was told to stop. Ask between the steps of long work of your own."""
        return (await self.watch.signals()).stop_of(self.root.id) is not None

    async def checkpoint(self, state: Any, reason: str = "") -> int:
        """Keeps a state, as JSON; returns its number. People see it in the run's history.

        Also possible once the run was told to stop: that is when it is worth most.
        """
        body: api.StateBody = {"state": state, "reason": reason}
        return Checkpoint.of_json(await self.lease.post("checkpoints", body)).number

    async def last_checkpoint(self) -> Checkpoint | None:
        """The state that was kept last, also by an earlier worker; None before the first."""
        with suppress(NotFound):
            return Checkpoint.of_json(await self.lease.get("checkpoints/last"))
        return None

    async def has_asked(self, key: str) -> bool:
        """Whether there is a question with this key, of this worker or an earlier one."""
        with suppress(NotFound):
            await self.lease.get(self.root.question_path(key))
            return True
        return False

    async def cancel(self, reason: str = "") -> None:
        """Ends the run as cancelled."""
        await self.end("cancelled", reason)

    async def end(self, state: api.EndName, reason: str = "") -> None:
        """Ends the run: ``completed`` with its `result`, ``failed`` or ``cancelled``. The block does so by itself."""
        if self.has_ended:
            return

        async def end(result: Any) -> None:
            body: api.EndBody = {"state": state, "reason": reason or None, "result": result}
            await self.lease.post("end", body)

        try:
            await keep(self.result if state == "completed" else None, end)
        except Unkeepable as error:
            unkept = f"the result of the run cannot be kept: {error}"
            await self.end("failed", unkept[:500])
            raise Invalid(unkept) from error
        except RunFinished:
            # The answer to an earlier attempt was lost.
            if (await self.lease.row())["state"] != state:
                raise
        self.has_ended = True

    @property
    def is_busy(self) -> bool:
        """Whether an effect or a model's answer is under way."""
        return self._busy > 0

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Something is under way that is worth waiting for."""
        self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1
