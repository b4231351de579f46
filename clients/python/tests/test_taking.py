"""Workers that leave while they take a run, over the real server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from desk import DESK
from holding_proxy import HoldingProxy
from waiting import until

from interrupt_router import Router, Run
from interrupt_router.local import LocalServer

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def leaving(server: LocalServer, held: str) -> AsyncIterator[tuple[Router, HoldingProxy]]:
    """A worker whose server answers a request when it has left."""
    token = await server.worker_token("desk")()
    async with HoldingProxy(server.address, held) as proxy, Router(proxy.address, token) as router:
        yield router, proxy


async def cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def created(router: Router, alias: str) -> str:
    await router.register(DESK)
    row = await router._transport(DESK).post("/v1/workflows/desk/runs", {"input": None, "thread_id": alias})
    return str(row["run_id"])


async def owner(router: Router, run_id: str) -> str | None:
    """The worker that has a run."""
    row = await router._transport(DESK).get(f"/v1/work/{run_id}")
    worker: str | None = row.get("worker")
    return worker


async def no_handler(run: Run) -> None:
    pytest.fail(f"{run.id} was given to a worker that leaves")


async def test_a_loop_that_ends_gives_back_what_it_has_just_taken_and_then_its_other_runs(
    router: Router,
) -> None:
    assert router.server is not None
    begun: list[str] = []

    async def handler(run: Run) -> None:
        begun.append(run.id)
        await asyncio.Event().wait()

    async with leaving(router.server, "/never") as (worker, proxy):
        works = await created(router, "works")
        task = asyncio.create_task(worker.work(DESK, handler))
        await until(lambda: begun == [works])
        # The loop waits for the next run already, and has it.
        proxy.held = "/leases"
        crosses = await created(router, "crosses")
        await proxy.holds.wait()
        assert None not in [await owner(router, run) for run in (works, crosses)]
        await cancelled(task)
        assert [await owner(router, run) for run in (works, crosses)] == [None, None]
        released = [it for it in proxy.passed if it.startswith("DELETE")]
    assert released == [f"DELETE /v1/work/{run}/lease" for run in (crosses, works)]
    assert begun == [works]


async def test_a_run_that_is_taken_when_its_worker_has_just_left_is_given_back(router: Router) -> None:
    assert router.server is not None

    async def work(worker: Router) -> None:
        async with worker.run(DESK, alias="ticket", input=None) as run:
            pytest.fail(f"{run.id} was given to a worker that leaves")

    async with leaving(router.server, "/lease") as (worker, proxy):
        task = asyncio.create_task(work(worker))
        await proxy.holds.wait()
        await cancelled(task)
    async with router.run(DESK, alias="ticket", input=None, wait_for_owner=0) as run:
        assert run.alias == "ticket"


async def test_a_loop_ends_soon_although_its_server_is_gone(server: LocalServer) -> None:
    async with leaving(server, "/never") as (worker, proxy):
        task = asyncio.create_task(worker.work(DESK, no_handler))
        await until(lambda: "POST /v1/workflows/desk/leases" in proxy.passed)
        await server.close()
        begun = time.monotonic()
        await cancelled(task)
        assert time.monotonic() - begun < 20
