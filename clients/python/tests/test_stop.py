"""Stops, over the real server."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from desk import DESK, Model, again, killed, routed_by
from waiting import eventually, open_question

from interrupt_router import AgentView, Operator, Router, Run, RunFinished, RunPaused, RunView, Stopped

pytestmark = pytest.mark.anyio


async def status(ann: Operator, run: Run, wanted: str) -> RunView:
    """The run, once it stands like this."""

    async def look() -> RunView | None:
        row = await ann.run(run.id)
        return row if row.status == wanted else None

    return await eventually(look)


async def resume(ann: Operator, run: Run) -> None:
    """Resumes a run, and waits until it can be taken: the server answers before that."""
    assert await ann.resume(run.id) == run.id

    async def look() -> bool | None:
        return (await ann.run(run.id)).status != "paused" or None

    await eventually(look)


async def told_to_stop(run: Run) -> None:
    """Waits until the worker has heard of a stop of the whole run."""

    async def look() -> bool | None:
        return await run.interrupted() or None

    await eventually(look)


async def test_a_pause_wakes_a_question_and_the_run_goes_on_after_it(router: Router, ann: Operator) -> None:
    with pytest.raises(Stopped) as stopped:
        async with router.run(DESK, alias="t") as run:
            agent = await run.agent("REFUNDS")
            asking = asyncio.create_task(agent.ask("Refund?", key="refund"))
            question = await open_question(ann, "Refund?")
            pause = await ann.stop(f"{run.id}/root", scope="run", reason="lunch")
            assert (await ann.run(run.id)).status != "paused", "nothing says paused before the worker does"
            await asking
    assert (stopped.value.stop.interrupt_id, stopped.value.stop.reason) == (pause.id, "lunch")
    await status(ann, run, "paused")
    with pytest.raises(RunPaused):
        async with again(router, run):
            pytest.fail("it is paused")
    await resume(ann, run)
    async with again(router, run) as taken:
        asking = asyncio.create_task((await taken.agent("REFUNDS")).ask("Refund?", key="refund"))
        await ann.decide(await open_question(ann, "Refund?"), "approve")
        await asking
    resolved = [interrupt.id async for interrupt in ann.interrupts("resolved", run_id=run.id)]
    assert question.id in resolved
    await status(ann, run, "completed")


async def test_a_run_is_cancelled_at_the_next_call(router: Router, ann: Operator) -> None:
    with pytest.raises(Stopped):
        async with router.run(DESK, alias="t") as run:
            await ann.cancel(run.id, reason="the customer wrote again")
            await told_to_stop(run)
            await run.root.effect("pay", pytest.fail, "it was done")
    await status(ann, run, "cancelled")
    with pytest.raises(RunFinished):
        async with again(router, run):
            pytest.fail("it is cancelled")


async def test_an_effect_ends_before_a_stop(router: Router, ann: Operator) -> None:
    doing, may_end = asyncio.Event(), asyncio.Event()

    async def pay() -> int:
        doing.set()
        await may_end.wait()
        return 5

    with pytest.raises(Stopped):
        async with router.run(DESK, alias="t") as run:
            paying = asyncio.create_task(run.root.effect("pay", pay))
            await doing.wait()
            await ann.stop(f"{run.id}/root", mode="immediate", scope="run")
            await told_to_stop(run)
            may_end.set()
            assert await paying == 5
            run.root.check()
    await status(ann, run, "paused")
    await resume(ann, run)
    async with again(router, run) as taken:
        assert await taken.root.effect("pay", pytest.fail, "it was done") == 5


async def test_an_immediate_stop_cancels_the_call_of_a_model(router: Router, ann: Operator) -> None:
    called, cancelled = asyncio.Event(), asyncio.Event()

    async def model(schema: Any, messages: Any) -> str:
        called.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return ""

    with pytest.raises(Stopped):
        async with router.run(DESK, alias="t") as run:
            asking = asyncio.create_task((await run.agent("REFUNDS")).ask("Refund?", key="refund"))
            await ann.decide(await open_question(ann), "approve")
            filling = asyncio.create_task(routed_by(await asking).fill(model))
            await called.wait()
            await ann.stop(f"{run.id}/root", mode="immediate", scope="run")
            await filling
    assert cancelled.is_set()
    await status(ann, run, "paused")


async def test_a_graceful_stop_lets_a_model_end(router: Router, ann: Operator) -> None:
    called, may_end = asyncio.Event(), asyncio.Event()

    async def model(schema: Any, messages: Any) -> Any:
        called.set()
        await may_end.wait()
        return {"refund": {"cents": 5}}

    with pytest.raises(Stopped):
        async with router.run(DESK, alias="t") as run:
            asking = asyncio.create_task((await run.agent("REFUNDS")).ask("Refund?", key="refund"))
            await ann.decide(await open_question(ann), "approve")
            filling = asyncio.create_task(routed_by(await asking).fill(model))
            await called.wait()
            await ann.stop(f"{run.id}/root", scope="run")
            await told_to_stop(run)
            may_end.set()
            assert (await filling).cents == 5
            run.root.check()
    await status(ann, run, "paused")


async def prune(ann: Operator, run: Run) -> None:
    await ann.stop(f"{run.id}/root/legal", type="PRUNE", reason="no lawyers")


async def pruned(ann: Operator, run: Run) -> AgentView | None:
    agent = await ann.agent(f"{run.id}/root/legal")
    return agent if agent.status == "pruned" else None


async def test_a_pruned_agent_ends_and_its_run_goes_on(router: Router, ann: Operator) -> None:
    run = await killed(router.run(DESK, alias="t", lease=1.0))
    run.watch.start()
    reached = False
    async with run.agent("LEGAL") as legal:
        asking = asyncio.create_task(legal.ask("Sue?", key="sue"))
        await open_question(ann)
        await prune(ann, run)
        await asking
        reached = True
    assert not reached
    await eventually(lambda: pruned(ann, run))
    assert await run.root.effect("pay", lambda: 5) == 5
    await run.watch.close()
    # The next worker runs the same code, and the block ends in the same way.
    async with again(router, run) as taken:
        async with taken.agent("LEGAL") as legal:
            await legal.ask("Sue?", key="sue")
            reached = True
        assert not reached
        assert await taken.root.effect("pay", pytest.fail, "it was done") == 5
    await status(ann, run, "completed")


async def test_the_stop_of_an_agent_that_the_code_needs_ends_the_run(router: Router, ann: Operator) -> None:
    with pytest.raises(Stopped):
        async with router.run(DESK, alias="t") as run:
            legal = await run.agent("LEGAL")
            asking = asyncio.create_task(legal.ask("Sue?", key="sue"))
            await open_question(ann)
            await prune(ann, run)
            await asking
    row = await status(ann, run, "cancelled")
    assert row.reason == "root/legal was stopped: no lawyers"


async def test_a_stop_reaches_agents_below(router: Router, ann: Operator) -> None:
    async with router.run(DESK, alias="t") as run:
        async with run.agent("LEGAL") as legal, legal.agent("REFUNDS") as below:
            asking = asyncio.create_task(below.ask("Refund?", key="refund"))
            await open_question(ann)
            await prune(ann, run)
            await asking
        await eventually(lambda: pruned(ann, run))
        assert (await ann.agent(f"{run.id}/root/legal/refunds")).status == "pruned"


async def test_a_stop_outlives_the_worker_that_did_not_hear_it(router: Router, ann: Operator) -> None:
    run = await killed(router.run(DESK, alias="t", lease=1.0))
    await ann.stop(f"{run.id}/root", scope="run", reason="lunch")
    with contextlib.suppress(RunPaused), pytest.raises(Stopped):
        async with again(router, run) as taken:
            await taken.root.ask("Go on?", key="go")
    await status(ann, run, "paused")


async def test_a_stop_that_is_swallowed_comes_again(router: Router, ann: Operator) -> None:
    with pytest.raises(Stopped):
        async with router.run(DESK) as run:
            await ann.cancel(run.id)
            await told_to_stop(run)
            for key in ("one", "two"):
                with contextlib.suppress(Exception):
                    await run.root.effect(key, pytest.fail, "it was done")
            await run.root.ask("Go on?", key="go")
    await status(ann, run, "cancelled")


async def test_an_answer_that_came_before_the_stop_is_kept(router: Router, ann: Operator) -> None:
    with pytest.raises(Stopped):
        async with router.run(DESK, alias="t") as run:
            agent = await run.agent("REFUNDS")
            asking = asyncio.create_task(agent.ask("Refund?", key="refund"))
            await ann.decide(await open_question(ann), "approve")
            await ann.stop(f"{run.id}/root", scope="run")
            routed = routed_by(await asking)
            await told_to_stop(run)
            await routed.fill(Model())
    await status(ann, run, "paused")
    await resume(ann, run)
    async with again(router, run) as taken:
        routed = routed_by(await (await taken.agent("REFUNDS")).ask("Refund?", key="refund"))
        assert (await routed.fill(Model({"refund": {"cents": 1}}))).cents == 1


async def test_a_state_is_kept_once_the_run_was_told_to_stop(router: Router, ann: Operator) -> None:
    with pytest.raises(Stopped):
        async with router.run(DESK, alias="t") as run:
            await ann.stop(f"{run.id}/root", scope="run", reason="lunch")
            await told_to_stop(run)
            assert await run.checkpoint({"page": 3}, "where it stopped") == 1
            run.root.check()
    await status(ann, run, "paused")
    await resume(ann, run)
    async with again(router, run) as taken:
        kept = await taken.last_checkpoint()
        assert kept is not None
        assert kept.state == {"page": 3}
