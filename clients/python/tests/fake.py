"""A server that is a transport: it has one run, keeps what a worker does to it, and interrupts it when it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, cast

from desk import DESK

from interrupt_router import LeaseLost, Ownership, Run
from interrupt_router.lease import Lease
from interrupt_router.transport import NO_QUERY, Query, Transport

RUN = "run_1"


class FakeServer:
    """One run in epoch 1. A request that waits is answered when something has come, or when its time is over."""

    def __init__(self) -> None:
        self.stops: list[dict[str, Any]] = []
        self.questions: dict[str, dict[str, Any]] = {}
        self.effects: dict[str, Any] = {}
        """Results by key; an effect that was begun and not finished has none."""
        self.agents: dict[str, str] = {}
        self.settled: list[str] = []
        """How the run ended for its worker, in the order of its requests."""
        self.is_lost = False
        self._cursor = 1
        self._changed = asyncio.Event()

    def interrupt(self, how: str, agent_id: str = "root") -> None:
        """Something that people, or another worker, do."""
        scope = "run" if agent_id == "root" else "agent"
        modes = {"pause": ("PAUSE", "graceful"), "stop": ("STOP", "immediate"), "cancel": ("STOP", "graceful")}
        if how == "lost":
            self.is_lost = True
        elif how in modes:
            kind, mode = modes[how]
            stop = {"interrupt_id": f"int_{how}", "type": kind, "mode": mode, "scope": scope, "agent_id": agent_id}
            self.stops.append({**stop, "reason": "lunch"})
        self._change()

    def decide(self, key: str) -> None:
        """A person approves."""
        at = "2026-11-25T10:00:00Z"
        made = {"id": "dec_1", "decision": "approve", "by": "ann", "at": at, "choices": [], "confirmations": {}}
        self.questions[key] |= {"state": "decided", "decided_as": "approved", "decision": made}
        self._change()

    def owned(self, *, park_after: float = 30.0) -> Ownership:
        """The block of a worker that owns the run."""

        async def take() -> Run:
            lease = Lease(cast(Transport, FakeTransport(self)), RUN, 1, 0.03)
            row: Any = {"run_id": RUN, "thread_id": None, "input": None}
            return Run(DESK, lease, row, park_after=park_after)

        return Ownership(take)

    def _change(self) -> None:
        self._cursor += 1
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def answer(self, method: str, path: str, query: Query, body: Any, wait: float) -> Any:
        """What the server says to a request."""
        if self.is_lost:
            raise LeaseLost("another worker has the run", code="lease-lost")
        what, _, rest = path.partition("/")
        key = rest.removesuffix("/result")
        match method, what:
            case "GET", "signals":
                await self._until(lambda: query.get("after") != self._cursor, wait)
                return {"stopping": bool(self.stops), "stops": self.stops, "asked": [], "messages": [],
                        "decided": [], "cursor": self._cursor}  # fmt: skip
            case ("PUT" | "GET"), "questions":
                open_one = {"key": key, "interrupt_id": f"int_{key}", "state": "open", "corrections_left": 3}
                question = self.questions.setdefault(key, {**open_one, **(body or {})})
                await self._until(lambda: question["state"] != "open", wait)
                return question
            case "PUT", "effects" if rest != key:
                self.effects[key] = body["result"]
                return {"state": "finished", "result": body["result"]}
            case "PUT", "effects":
                known = self.effects.setdefault(key, None)
                return {"state": "begun"} if known is None else {"state": "finished", "result": known}
            case "PUT", "agents":
                self.agents |= {told["agent_id"]: told["status"] for told in body["agents"]}
                return {"agents": body["agents"]}
            case "POST", "stopped":
                self.settled.append(f"stopped {body['agent_id'] or 'run'}")
                self.stops = [stop for stop in self.stops if stop["agent_id"] != body["agent_id"]]
            case "POST", "end":
                self.settled.append(f"{body['state']}: {body['reason']}" if body["reason"] else body["state"])
            case "DELETE", "lease":
                self.settled.append("waits" if query.get("waiting") else "given back")
            case _:
                assert (method, what) == ("PUT", "lease"), path
        return None

    async def _until(self, happened: Callable[[], bool], wait: float) -> None:
        ends = asyncio.get_running_loop().time() + wait
        while not self.is_lost and not happened() and (left := ends - asyncio.get_running_loop().time()) > 0:
            try:
                await asyncio.wait_for(self._changed.wait(), left)
            except asyncio.TimeoutError:
                return
        if self.is_lost:
            raise LeaseLost("another worker has the run", code="lease-lost")


class FakeTransport:
    """Sends requests to a `FakeServer`."""

    def __init__(self, server: FakeServer) -> None:
        self._server = server

    async def send(
        self,
        method: str,
        path: str,
        query: Query = NO_QUERY,
        *,
        body: object = None,
        headers: Mapping[str, str] | None = None,  # noqa: ARG002
        wait: float = 0.0,
    ) -> Any:
        within = path.removeprefix(f"/v1/work/{RUN}/")
        return await self._server.answer(method, within, query, body, wait)

    get, put, post, delete = Transport.get, Transport.put, Transport.post, Transport.delete
