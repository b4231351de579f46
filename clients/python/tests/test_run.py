"""Owning runs, over the real server."""

from __future__ import annotations

import asyncio

import pytest
from desk import DESK, again, killed
from waiting import eventually

from interrupt_router import (
    Conflict,
    Forbidden,
    Invalid,
    LeaseLost,
    NameTaken,
    NotFound,
    Operator,
    Router,
    RouterError,
    RunFinished,
    RunOwned,
    RunView,
    Unauthenticated,
    Workflow,
)

pytestmark = pytest.mark.anyio


async def test_a_run_is_completed_with_its_result(router: Router, ann: Operator) -> None:
    async with router.run(DESK, alias="ticket-1", input={"order": 17}) as run:
        assert (run.alias, run.input) == ("ticket-1", {"order": 17})
        assert (await ann.run(run.id)).status == "running"
        run.result = {"paid": 5}
    assert (await ann.run(run.id)).status == "completed"
    with pytest.raises(RunFinished) as finished:
        async with again(router, run):
            pytest.fail("it was completed before")
    assert (finished.value.state, finished.value.result) == ("completed", {"paid": 5})


async def test_a_run_fails_with_an_exception(router: Router, ann: Operator) -> None:
    with pytest.raises(ValueError, match="no such order"):
        async with router.run(DESK) as run:
            raise ValueError("no such order")
    row = await ann.run(run.id)
    assert (row.status, row.reason) == ("failed", "ValueError: no such order")


async def test_a_run_can_be_cancelled_by_its_code(router: Router, ann: Operator) -> None:
    async with router.run(DESK) as run:
        await run.cancel("a duplicate")
    row = await ann.run(run.id)
    assert (row.status, row.reason) == ("cancelled", "a duplicate")


async def test_a_worker_that_is_cancelled_gives_the_run_back(router: Router, ann: Operator) -> None:
    entered = asyncio.Event()

    async def work() -> None:
        async with router.run(DESK, alias="ticket-1"):
            entered.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with router.run(DESK, alias="ticket-1", wait_for_owner=0) as run:
        assert run.lease.epoch == 2
    assert (await ann.run(run.id)).status == "completed"


async def test_one_worker_has_a_run(router: Router) -> None:
    async with router.run(DESK, alias="ticket-1"):
        with pytest.raises(RunOwned):
            async with router.run(DESK, alias="ticket-1", wait_for_owner=0):
                pytest.fail("it is owned")


async def test_the_run_of_a_worker_that_was_killed_is_taken_when_its_lease_ends(router: Router) -> None:
    run = await killed(router.run(DESK, alias="ticket-1", lease=1.0))
    async with router.run(DESK, alias="ticket-1") as taken:
        assert (taken.id, taken.lease.epoch) == (run.id, 2)
        with pytest.raises(LeaseLost):
            await run.checkpoint({"late": True})
        assert await taken.last_checkpoint() is None


async def test_a_lease_is_renewed(router: Router) -> None:
    async with router.run(DESK, lease=1.0) as run:

        async def until() -> str:
            return (await run.lease.row()).get("lease_until") or ""

        first = await until()

        async def later() -> bool | None:
            return await until() > first or None

        await eventually(later)


async def test_a_worker_hears_that_it_lost_the_run(router: Router) -> None:
    run = await killed(router.run(DESK, alias="ticket-1", lease=1.0))
    async with router.run(DESK, alias="ticket-1"):
        run.watch.start()
        with pytest.raises(LeaseLost):
            await asyncio.wait_for(run.watch.guard("root", asyncio.Event().wait()), 10)
        with pytest.raises(LeaseLost):
            run.root.check()
    await run.watch.close()


async def test_an_alias_stands_for_one_input(router: Router) -> None:
    async with router.run(DESK, alias="ticket-1", input=1):
        with pytest.raises(NameTaken):
            async with router.run(DESK, alias="ticket-1", input=2):
                pytest.fail("the name is taken")


async def test_two_runs_without_an_alias_are_two(router: Router) -> None:
    async with router.run(DESK) as one, router.run(DESK) as two:
        assert one.id != two.id


async def test_states_are_kept(router: Router) -> None:
    run = await killed(router.run(DESK, alias="ticket-1", lease=1.0))
    assert await run.last_checkpoint() is None
    first = await run.checkpoint({"step": 1})
    second = await run.checkpoint({"step": 2, "list": [None, 1.5]}, "after the refund")
    assert second > first
    async with again(router, run) as taken:
        last = await taken.last_checkpoint()
    assert last is not None
    assert (last.number, last.state, last.reason) == (second, {"step": 2, "list": [None, 1.5]}, "after the refund")


async def test_people_see_what_agents_do(router: Router, ann: Operator) -> None:
    async with router.run(DESK) as run:
        async with run.agent("REFUNDS") as refunds:
            await refunds.report(step=3, tokens=900)
            legal = await refunds.agent("LEGAL", "second_opinion")
            seen = {agent.node_id: agent async for agent in ann.agents(run_id=run.id)}
            assert set(seen) == {"root", "root/refunds", "root/refunds/second_opinion"}
            assert seen["root/refunds"].status == "running"
            assert seen["root/refunds"].raw["tokens"] == 900
            assert legal.kind == seen["root/refunds/second_opinion"].agent_type == "LEGAL"
        assert (await ann.agent(f"{run.id}/root/refunds")).status == "completed"
        with pytest.raises(ValueError, match="wrong"):
            async with run.agent("REFUNDS", "other"):
                raise ValueError("wrong")
        assert (await ann.agent(f"{run.id}/root/other")).status == "failed"


async def test_an_agent_that_had_ended_is_opened_again(router: Router) -> None:
    run = await killed(router.run(DESK, alias="ticket-1", lease=1.0))
    async with run.agent("REFUNDS") as refunds:
        assert await refunds.effect("once", lambda: 1) == 1
    async with again(router, run) as taken, taken.agent("REFUNDS") as refunds:
        assert await refunds.effect("once", lambda: 2) == 1


async def test_an_unknown_kind_is_refused(router: Router) -> None:
    with pytest.raises(RouterError, match="ACCOUNTING"):
        async with router.run(DESK) as run:
            await run.agent("ACCOUNTING")


async def test_the_same_workflow_is_one_version(router: Router) -> None:
    assert await router.register(DESK) == await router.register(DESK)
    wider = Workflow("desk", kinds={"ORCHESTRATOR": None, "SHIPPING": None})
    assert await router.register(wider) == await router.register(DESK) + 1


async def test_the_server_refuses_what_the_client_does_not_see(router: Router) -> None:
    too_deep = {"type": "object", "properties": {"x": {"type": "integer", "not": {"const": 1}}}}
    with pytest.raises(Invalid) as refused:
        await router.register(Workflow("desk", kinds={"REFUNDS": "refund"}, routes={"refund": too_deep}))
    assert refused.value.errors[0].pointer.startswith("/routes/0/schema/properties/x")


async def test_a_token_reaches_its_own_workflow_alone(router: Router) -> None:
    assert router.server is not None
    token = await router.server.worker_token("desk")()
    async with Router(router.server.address, token) as remote:
        await remote.register(DESK)
        with pytest.raises(NotFound):
            await remote.register(Workflow("shop", kinds={"SHIPPING": None}))
    async with Operator(router.server.address, token) as worker:
        with pytest.raises(Forbidden):
            await worker.cancel("run_00000000000000000000000000000000")
    async with Router(router.server.address, "irq_wrong") as stranger:
        with pytest.raises(Unauthenticated):
            await stranger.register(DESK)


async def test_a_router_that_is_not_open_says_so() -> None:
    with pytest.raises(RouterError, match="not open"):
        await Router("http://127.0.0.1:9", "irq_x").register(DESK)


async def test_a_run_that_ended_elsewhere_is_not_completed_twice(router: Router, ann: Operator) -> None:
    async with router.run(DESK) as run:
        await run.lease.post("end", {"state": "completed", "result": 1})
    row: RunView = await ann.run(run.id)
    assert row.status == "completed"
    with pytest.raises(Conflict):
        async with router.run(DESK) as run:
            await run.lease.post("end", {"state": "failed"})


async def test_a_run_whose_worker_died_while_it_ended_it_is_taken_again(router: Router, ann: Operator) -> None:
    run = await killed(router.run(DESK, alias="t", lease=1.0))
    await run.root.report("completed")
    async with again(router, run):
        pass
    assert (await ann.run(run.id)).status == "completed"
