from __future__ import annotations

import asyncio

import pytest

from interrupt_router.uncancelled import to_its_end

pytestmark = pytest.mark.anyio


async def test_a_cancellation_waits_for_the_end() -> None:
    begun, may_end, ended = asyncio.Event(), asyncio.Event(), False

    async def work() -> None:
        nonlocal ended
        begun.set()
        await may_end.wait()
        ended = True

    task = asyncio.create_task(to_its_end(work()))
    await begun.wait()
    task.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended


async def test_no_number_of_cancellations_cuts_it() -> None:
    begun, may_end, under_way = asyncio.Event(), asyncio.Event(), set[asyncio.Task[object]]()

    async def work() -> None:
        begun.set()
        await may_end.wait()
        raise ValueError("no")

    task = asyncio.create_task(to_its_end(work(), under_way))
    await begun.wait()
    for _ in range(10):
        task.cancel()
        await asyncio.sleep(0)
    assert len(under_way) == 1
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not under_way


async def test_a_result_and_an_error_pass() -> None:
    async def fine() -> int:
        return 7

    async def wrong() -> int:
        raise ValueError("no")

    assert await to_its_end(fine()) == 7
    with pytest.raises(ValueError, match="no"):
        await to_its_end(wrong())
