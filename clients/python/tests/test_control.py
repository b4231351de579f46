"""What ends the work on a run from outside reaches the server, whatever the code wraps around it. Over a fake server."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import pytest
from fake import FakeServer

from interrupt_router import LeaseLost, Parked, Stopped
from interrupt_router.sync.portal import Portal
from interrupt_router.sync.router import Ownership as SyncOwnership

pytestmark = pytest.mark.anyio

# Python 3.10 has none.
TaskGroup: Any = getattr(asyncio, "TaskGroup", None)
Group: Any = getattr(builtins, "ExceptionGroup", None)


class ToolError(Exception):
    """What a library makes of each error of a tool."""


Ask = Callable[[str], Awaitable[Any]]
Idiom = Callable[[Ask, Awaitable[Any]], Awaitable[Any]]


async def plain(ask: Ask, work: Awaitable[Any]) -> None:
    await work
    await ask("one")


async def cause(ask: Ask, work: Awaitable[Any]) -> None:
    await work
    try:
        await ask("one")
    except Exception as error:
        raise ToolError("the tool failed") from error


async def context(ask: Ask, work: Awaitable[Any]) -> None:
    await work
    try:
        await ask("one")
    except Exception:
        raise ToolError("the tool failed")  # noqa: B904 - as libraries do


async def hidden(ask: Ask, work: Awaitable[Any]) -> None:
    await work
    try:
        await ask("one")
    except Exception:
        raise ToolError("the tool failed") from None


async def swallowed(ask: Ask, work: Awaitable[Any]) -> None:
    await work
    with contextlib.suppress(Exception):
        await ask("one")


async def swallowed_and_missed(ask: Ask, work: Awaitable[Any]) -> None:
    answer = None
    await work
    with contextlib.suppress(Exception):
        answer = await ask("one")
    if answer is None:
        raise ToolError("no answer")


async def gather(ask: Ask, work: Awaitable[Any]) -> None:
    await asyncio.gather(ask("one"), work, ask("two"))


async def gather_of_results(ask: Ask, work: Awaitable[Any]) -> None:
    results = await asyncio.gather(ask("one"), work, ask("two"), return_exceptions=True)
    assert results


async def wait_for(ask: Ask, work: Awaitable[Any]) -> None:
    await asyncio.wait_for(asyncio.gather(ask("one"), work), 60)


async def task_group(ask: Ask, work: Awaitable[Any]) -> None:
    async with TaskGroup() as tasks:
        for each in (ask("one"), work, ask("two")):
            tasks.create_task(awaiting(each))


async def nested(ask: Ask, work: Awaitable[Any]) -> None:
    async def inner() -> None:
        try:
            await task_group(ask, work)
        except Exception as error:
            raise ToolError("the tool failed") from error

    async with TaskGroup() as tasks:
        tasks.create_task(inner())
        tasks.create_task(awaiting(ask("three")))


async def nursery(ask: Ask, work: Awaitable[Any]) -> None:
    async with anyio.create_task_group() as tasks:
        for each in (ask("one"), work, ask("two")):
            tasks.start_soon(awaiting, each)


async def awaiting(work: Awaitable[Any]) -> Any:
    return await work


IDIOMS: list[Idiom] = [plain, cause, context, hidden, swallowed, swallowed_and_missed, gather, gather_of_results]
IDIOMS += [wait_for, nursery, *([task_group, nested] if TaskGroup else [])]

# What happens, how the run ends for it, and what the block raises.
ENDS: dict[str, tuple[list[str], type[Exception]]] = {
    "pause": (["stopped run"], Stopped),
    "stop": (["stopped run"], Stopped),
    "cancel": (["stopped run"], Stopped),
    "park": (["waits"], Parked),
    "lost": ([], LeaseLost),
}


def named(idiom: Callable[..., Any]) -> str:
    return idiom.__name__


@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize("idiom", IDIOMS, ids=named)
async def test_an_idiom_lets_it_pass(idiom: Idiom, how: str) -> None:
    server, doing = FakeServer(), asyncio.Event()

    async def happens() -> None:
        await doing.wait()
        while "one" not in server.questions and idiom in AT_ONCE:
            await asyncio.sleep(0)
        server.interrupt(how)

    async def work() -> int:
        doing.set()
        for _ in range(20):  # it goes on while everything around it is cancelled
            await asyncio.sleep(0.001)
        return 5

    happening = asyncio.create_task(happens())
    settled, raised = ENDS[how]
    with pytest.raises(raised):
        async with server.owned(park_after=0.05) as run:
            await idiom(lambda key: run.root.ask("Go on?", key=key), run.root.effect("work", work))
    await happening
    assert server.settled == settled
    assert {question["state"] for question in server.questions.values()} <= {"open"}
    # A worker that has lost the run cannot keep anything.
    assert how == "lost" or server.effects == {"work": 5}


# These ask while the effect is under way.
AT_ONCE = IDIOMS[6:]


@pytest.mark.parametrize("idiom", [cause, context, swallowed, *IDIOMS[7:]], ids=named)
async def test_the_stop_of_an_agent_ends_its_block_alone(idiom: Idiom) -> None:
    server, reached = FakeServer(), False
    async with server.owned() as run:
        async with run.agent("LEGAL") as legal:
            idle = legal.effect("work", lambda: 5)
            asking = asyncio.create_task(awaiting(idiom(lambda key: legal.ask("Sue?", key=key), idle)))
            while "one" not in server.questions:
                await asyncio.sleep(0)
            server.interrupt("stop", legal.id)
            await asking
        reached = True
    assert reached
    assert server.settled == ["stopped root/legal", "completed"]
    assert server.agents[legal.id] == "running"


async def test_an_error_of_the_code_fails_the_run() -> None:
    server = FakeServer()
    with pytest.raises(Group or ValueError):
        async with server.owned():
            error = ValueError("no such order")
            raise Group("two", [error]) if Group else error
    assert server.settled[0].startswith("failed: ")


async def test_a_question_that_was_answered_after_all_is_not_waited_for() -> None:
    server = FakeServer()
    with pytest.raises(ValueError, match="no such order"):
        async with server.owned(park_after=0.01) as run:
            with contextlib.suppress(Parked):
                await run.root.ask("Go on?", key="one")
            server.decide("one")
            await run.root.ask("Go on?", key="one")
            raise ValueError("no such order")
    assert server.settled == ["failed: ValueError: no such order"]


async def test_a_stop_that_is_known_comes_before_a_cancellation() -> None:
    server = FakeServer()

    async def handle() -> None:
        async with server.owned() as run:
            server.interrupt("pause")
            while not (await run.signals()).stops:
                await asyncio.sleep(0)
            await asyncio.Event().wait()

    task = asyncio.create_task(handle())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert server.settled == ["stopped run"]


SyncIdiom = Callable[[Callable[[str], Any], Callable[[], Any]], Any]


def plainly(ask: Callable[[str], Any], work: Callable[[], Any]) -> None:
    work()
    ask("one")


def with_cause(ask: Callable[[str], Any], work: Callable[[], Any]) -> None:
    work()
    try:
        ask("one")
    except Exception as error:
        raise ToolError("the tool failed") from error


def with_context(ask: Callable[[str], Any], work: Callable[[], Any]) -> None:
    work()
    try:
        ask("one")
    except Exception:
        raise ToolError("the tool failed")  # noqa: B904 - as libraries do


def swallowing(ask: Callable[[str], Any], work: Callable[[], Any]) -> None:
    work()
    with contextlib.suppress(Exception):
        ask("one")


def hiding(ask: Callable[[str], Any], work: Callable[[], Any]) -> None:
    work()
    try:
        ask("one")
    except Exception:
        raise ToolError("the tool failed") from None


def missing(ask: Callable[[str], Any], work: Callable[[], Any]) -> None:
    answer = None
    work()
    with contextlib.suppress(Exception):
        answer = ask("one")
    if answer is None:
        raise ToolError("no answer")


def in_threads_of_results(ask: Callable[[str], Any], work: Callable[[], Any]) -> None:
    with ThreadPoolExecutor(3) as threads:
        results = [threads.submit(ask, "one"), threads.submit(work), threads.submit(ask, "two")]
    assert [result.exception() for result in results]


def in_threads(ask: Callable[[str], Any], work: Callable[[], Any]) -> None:
    with ThreadPoolExecutor(3) as threads:
        results = [threads.submit(ask, "one"), threads.submit(work), threads.submit(ask, "two")]
        for result in results:
            result.result()


SYNC_IDIOMS: list[SyncIdiom] = [plainly, with_cause, with_context, hiding, swallowing, missing]
SYNC_IDIOMS += [in_threads, in_threads_of_results]


@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize("idiom", SYNC_IDIOMS, ids=named)
def test_an_idiom_without_async_lets_it_pass(idiom: SyncIdiom, how: str) -> None:
    portal, doing = Portal(), threading.Event()
    try:
        server = portal.call(made())

        def happens() -> None:
            assert doing.wait(30)
            portal.call(interrupted(server, how))

        def work() -> int:
            doing.set()
            return 5

        happening = threading.Thread(target=happens)
        happening.start()
        settled, raised = ENDS[how]
        with pytest.raises(raised), SyncOwnership(server.owned(park_after=0.05), portal) as run:
            idiom(lambda key: run.root.ask("Go on?", key=key), lambda: run.root.effect("work", work))
        happening.join()
        assert server.settled == settled
        assert {question["state"] for question in server.questions.values()} <= {"open"}
        assert how == "lost" or server.effects == {"work": 5}
    finally:
        portal.close()


async def made() -> FakeServer:
    return FakeServer()


async def interrupted(server: FakeServer, how: str) -> None:
    server.interrupt(how)
