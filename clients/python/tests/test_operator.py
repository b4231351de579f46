"""The people's side, over the real server."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
from collections.abc import AsyncIterator

import pytest
from desk import DESK
from test_local import server_process
from waiting import gone, open_question, until

from interrupt_router import (
    AgentView,
    AlreadyResolved,
    Claimed,
    DecisionNotAllowed,
    Event,
    Feed,
    Forbidden,
    IdempotencyConflict,
    Interrupt,
    NotFound,
    Operator,
    RouteNotAllowed,
    Router,
    RouterError,
    Run,
    StaleVersion,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
async def bob(router: Router) -> AsyncIterator[Operator]:
    """A reviewer."""
    async with router.operator("bob", "reviewer") as bob:
        yield bob


@pytest.fixture
async def run(router: Router) -> AsyncIterator[Run]:
    async with router.run(DESK, alias="ticket-1") as run:
        yield run


@pytest.fixture
async def question(run: Run, ann: Operator) -> AsyncIterator[Interrupt]:
    """A question that waits."""
    asking = asyncio.create_task((await run.agent("REFUNDS")).ask("Refund?", key="refund", choices=["yes", "no"]))
    yield await open_question(ann)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)


async def test_one_person_wins(question: Interrupt, ann: Operator, bob: Operator) -> None:
    made = await ann.decide(question, "approve", choices=["yes"])
    assert (made.by, made.decision, made.target) == ("ann", "approve", "REFUNDS")
    with pytest.raises((AlreadyResolved, StaleVersion)):
        await bob.decide(question, "reject")
    with pytest.raises(AlreadyResolved) as late:
        await bob.decide(await bob.interrupt(question.id), "reject")
    assert late.value.resolved_by == "ann"
    read = await bob.interrupt(question.id)
    assert read.decision is not None
    assert read.decision.by == "ann"


async def test_the_same_key_is_the_same_decision(question: Interrupt, ann: Operator) -> None:
    first = await ann.decide(question, "approve", choices=["yes"], key="once")
    assert await ann.decide(question, "approve", choices=["yes"], key="once") == first
    with pytest.raises(IdempotencyConflict):
        await ann.decide(question, "reject", key="once")


async def test_a_claim_keeps_others_out(question: Interrupt, ann: Operator, bob: Operator) -> None:
    claimed = await bob.claim(question, seconds=60)
    assert claimed.claimed_by is not None
    assert claimed.claimed_by.by == "bob"
    with pytest.raises(Claimed):
        await ann.decide(await ann.interrupt(question.id), "approve", choices=["yes"])
    released = await bob.release(claimed)
    assert released.claimed_by is None
    await ann.decide(released, "approve", choices=["yes"])


async def test_what_was_not_seen_is_not_decided(question: Interrupt, ann: Operator, run: Run) -> None:
    await ann.claim(question)
    other = dataclasses.replace(question, version=question.version - 1)
    with pytest.raises(StaleVersion):
        await ann.decide(other, "approve", choices=["yes"])
    changed = dataclasses.replace(await ann.interrupt(question.id), shown_digest="0" * 64)
    with pytest.raises(StaleVersion):
        await ann.decide(changed, "approve", choices=["yes"])


async def test_what_is_not_offered_is_refused(question: Interrupt, ann: Operator) -> None:
    with pytest.raises(DecisionNotAllowed):
        await ann.decide(question, "resume")
    with pytest.raises(RouteNotAllowed):
        await ann.decide(question, "reroute", reroute_to="ACCOUNTING")
    with pytest.raises(RouterError):
        await ann.decide(question, "approve", choices=["maybe"])


async def test_a_reviewer_does_not_direct(run: Run, bob: Operator) -> None:
    with pytest.raises(Forbidden):
        await bob.cancel(run.id)
    with pytest.raises(Forbidden):
        await bob.send(f"{run.id}/root", "hello")


async def test_what_is_not_there_is_told(ann: Operator) -> None:
    for look in (ann.interrupt("int_0"), ann.run("run_0"), ann.agent("run_0/root"), ann.interrupt_request("none")):
        with pytest.raises(NotFound):
            await look


async def test_a_run_is_found_by_its_alias(run: Run, ann: Operator) -> None:
    assert (await ann.run("ticket-1")).run_id == run.id
    assert [row.run_id async for row in ann.runs("running")] == [run.id]
    assert [row.run_id async for row in ann.runs("completed")] == []


async def test_a_stop_is_withdrawn(run: Run, ann: Operator) -> None:
    pause = await ann.stop(f"{run.id}/root", scope="run", key="pause-1")
    assert (await ann.stop(f"{run.id}/root", scope="run", key="pause-1")).id == pause.id
    withdrawn = await ann.withdraw(pause.id)
    assert withdrawn.raw["askings"][0]["withdrawn"] is not None


async def test_lists_are_read_to_their_end(run: Run, ann: Operator) -> None:
    for n in range(3):
        await run.agent("LEGAL", f"legal-{n}")
    agents = ann._all(AgentView, "agents", {"run_id": run.id, "limit": 2})
    assert len({agent.node_id async for agent in agents}) == 4


async def next_events(feed: Feed, last: str) -> list[Event]:
    """Events up to one of this type."""
    events = []
    async for event in feed:
        events.append(event)
        if last in event.type:
            break
    return events


async def test_the_feed_has_no_gap_over_a_server_that_is_killed(router: Router, ann: Operator) -> None:
    assert router.server is not None
    feed = ann.events()
    reading = asyncio.create_task(next_events(feed, "run.completed"))
    # It begins with what is there then.
    await until(lambda: feed.cursor is not None)
    async with router.run(DESK, alias="t") as run:
        await run.checkpoint(1)
        before = server_process(router.server)
        os.kill(before, signal.SIGKILL)
        await until(lambda: gone(before))
        await run.checkpoint(2)
    seen = await asyncio.wait_for(reading, 30)
    replayed = await next_events(ann.events(after="0"), "run.completed")
    assert [event.cursor for event in seen] == [event.cursor for event in replayed]
    assert len([event for event in seen if "checkpoint" in event.type]) >= 2
    assert feed.cursor == seen[-1].cursor


async def test_the_feed_of_a_run_ends_with_it(router: Router, ann: Operator) -> None:
    async with router.run(DESK, alias="t") as run:
        reading = asyncio.create_task(_all(ann.events(run_id=run.id, after="0")))
    events = await asyncio.wait_for(reading, 30)
    assert events[-1].type.startswith("dev.irq.")
    assert any("run.completed" in event.type for event in events)
    assert all(event.raw["specversion"] == "1.0" for event in events)


async def test_a_feed_that_may_not_be_read_says_so(router: Router) -> None:
    assert router.server is not None
    async with Operator(router.server.address, "irq_wrong") as stranger:
        with pytest.raises(RouterError):
            await _all(stranger.events(after="0"))


async def _all(feed: Feed) -> list[Event]:
    return [event async for event in feed]
