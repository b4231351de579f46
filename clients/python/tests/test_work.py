"""The loop over runs, over the real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from desk import DESK, routed_by
from waiting import eventually, open_question

from interrupt_router import Operator, Router, RouterError, Run, RunView

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def working(
    router: Router, handler: Callable[[Run], Awaitable[Any]], *, workers: int = 4, park_after: float = 30.0
) -> AsyncIterator[None]:
    """A loop that takes runs for the time of a block."""
    task = asyncio.create_task(router.work(DESK, handler, workers=workers, park_after=park_after))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def created(router: Router, ticket: str) -> str:
    """A run that waits for a worker."""
    await router.register(DESK)
    row = await router._transport(DESK).post("/v1/workflows/desk/runs", {"input": ticket, "thread_id": ticket})
    return str(row["run_id"])


async def standing(ann: Operator, run_id: str, wanted: str) -> RunView:
    async def look() -> RunView | None:
        row = await ann.run(run_id)
        return row if row.status == wanted else None

    return await eventually(look)


async def test_each_run_is_handled_and_its_result_kept(router: Router, ann: Operator) -> None:
    async def handler(run: Run) -> str:
        return f"did {run.input}"

    ids = [await created(router, f"ticket-{n}") for n in range(3)]
    async with working(router, handler):
        for run_id in ids:
            await standing(ann, run_id, "completed")
    row = await router._transport(DESK).get(f"/v1/work/{ids[2]}")
    assert row["result"] == "did ticket-2"


async def test_a_run_that_fails_leaves_the_others_alone(router: Router, ann: Operator) -> None:
    async def handler(run: Run) -> None:
        if run.input == "bad":
            raise ValueError("no such order")

    bad, good = await created(router, "bad"), await created(router, "good")
    async with working(router, handler, workers=1):
        assert (await standing(ann, bad, "failed")).reason == "ValueError: no such order"
        await standing(ann, good, "completed")


async def test_a_worker_takes_no_run_that_needs_what_it_lacks(router: Router, ann: Operator) -> None:
    async def handler(run: Run) -> str:
        return f"did {run.input}"

    with pytest.raises(RouterError, match=r"labels.*gpu"):
        async with router.run(DESK, alias="large", input="large", needs=["gpu"]):
            pass
    large = (await ann.run("large")).run_id
    plain = await created(router, "plain")
    async with working(router, handler):
        await standing(ann, plain, "completed")
    assert (await ann.run(large)).status == "created"
    router.labels = ("gpu", "tools")
    async with working(router, handler):
        await standing(ann, large, "completed")


async def test_a_run_that_waits_for_people_makes_room(router: Router, ann: Operator) -> None:
    async def handler(run: Run) -> list[str]:
        if run.input == "quick":
            return []
        return routed_by(await run.root.ask("Go on?", key="go", choices=["yes"])).decision.choices

    slow = await created(router, "slow")
    async with working(router, handler, workers=1, park_after=0.1):
        question = await open_question(ann)
        await standing(ann, slow, "waiting")
        await standing(ann, await created(router, "quick"), "completed")
        await ann.decide(question, "approve", choices=["yes"])
        await standing(ann, slow, "completed")
    assert (await router._transport(DESK).get(f"/v1/work/{slow}"))["result"] == ["yes"]


@pytest.mark.skipif(not hasattr(asyncio, "TaskGroup"), reason="Python 3.10 has no task groups")
async def test_tasks_of_a_group_are_parked_and_paused(router: Router, ann: Operator) -> None:
    async def handler(run: Run) -> str:
        refunds, legal = await run.agent("REFUNDS"), await run.agent("LEGAL")
        group: Any = asyncio.TaskGroup  # type: ignore[attr-defined]  # it is newer than the oldest Python of the client
        try:
            async with group() as tasks:
                tasks.create_task(refunds.ask("Refund?", key="refund"))
                tasks.create_task(legal.ask("Sue?", key="sue"))
        except Exception as error:
            raise RuntimeError("the tool failed") from error
        return "done"

    run_id = await created(router, "ticket")
    async with working(router, handler, park_after=0.1):
        refund, sue = await open_question(ann, "Refund?"), await open_question(ann, "Sue?")
        await standing(ann, run_id, "waiting")
        await ann.decide(refund, "approve")
        await standing(ann, run_id, "waiting")
        await ann.stop(f"{run_id}/root", scope="run")
        await standing(ann, run_id, "paused")
        await ann.resume(run_id)
        await ann.decide(await ann.interrupt(sue.id), "reject")
        await standing(ann, run_id, "completed")


async def test_an_effect_under_way_is_not_parked(router: Router, ann: Operator) -> None:
    doing, may_end = asyncio.Event(), asyncio.Event()
    calls = 0

    async def pay() -> int:
        nonlocal calls
        calls += 1
        doing.set()
        await may_end.wait()
        return 5

    async def handler(run: Run) -> int:
        legal = await run.agent("LEGAL")
        paid, _ = await asyncio.gather(run.root.effect("pay", pay), legal.ask("Go on?", key="go"))
        return paid

    run_id = await created(router, "both")
    async with working(router, handler, park_after=0.01):
        await doing.wait()
        question = await open_question(ann)
        assert (await ann.run(run_id)).status == "running"
        may_end.set()
        await standing(ann, run_id, "waiting")
        await ann.decide(question, "approve")
        await standing(ann, run_id, "completed")
    assert calls == 1


async def test_at_most_so_many_run_at_once(router: Router, ann: Operator) -> None:
    now, most, two = 0, 0, asyncio.Event()

    async def handler(run: Run) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        if now == 2:
            two.set()
        await two.wait()
        await run.root.effect("work", lambda: None)
        now -= 1

    ids = [await created(router, f"ticket-{n}") for n in range(6)]
    async with working(router, handler, workers=2):
        for run_id in ids:
            await standing(ann, run_id, "completed")
    assert most == 2


async def test_a_loop_that_ends_gives_its_runs_back(router: Router, ann: Operator) -> None:
    started = asyncio.Event()

    async def handler(run: Run) -> None:
        started.set()
        await asyncio.Event().wait()

    run_id = await created(router, "ticket")
    async with working(router, handler):
        await started.wait()
    async with router.run(DESK, alias="ticket", input="ticket", wait_for_owner=0) as run:
        assert run.id == run_id


async def test_a_paused_run_is_taken_again_when_it_is_resumed(router: Router, ann: Operator) -> None:
    rounds = 0

    async def handler(run: Run) -> None:
        nonlocal rounds
        rounds += 1
        await run.root.ask("Go on?", key="go")

    run_id = await created(router, "ticket")
    async with working(router, handler):
        await open_question(ann, "Go on?")
        await ann.stop(f"{run_id}/root", scope="run")
        await standing(ann, run_id, "paused")
        await ann.resume(run_id)
        # Its question is still open, so there is nothing to do for a worker yet.
        await standing(ann, run_id, "waiting")
        await ann.decide(await open_question(ann, "Go on?"), "approve")
        await standing(ann, run_id, "completed")
    assert rounds == 2
