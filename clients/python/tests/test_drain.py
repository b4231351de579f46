"""Ctrl+C and SIGTERM end a worker in order, over the real server."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from desk import DESK
from test_work import created
from waiting import eventually, open_question

from interrupt_router import Operator, Router
from interrupt_router.sync.portal import Portal

pytestmark = pytest.mark.anyio

PROGRAM = Path(__file__).with_name("drained.py")


async def started(router: Router, way: str, ledger: Path) -> asyncio.subprocess.Process:
    """A worker that has a run."""
    assert router.server is not None
    token = await router.server.worker_token(DESK.name)()
    environment = {**os.environ, "IRQ_SERVER": router.server.address, "IRQ_TOKEN": token}
    if way.endswith("work"):
        await created(router, "ticket")
    arguments = [str(PROGRAM), way, str(ledger)]
    return await asyncio.create_subprocess_exec(
        sys.executable, *arguments, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("way", ["sync-work", "sync-run", "work", "run"])
async def test_an_effect_ends_and_the_run_is_given_back(
    way: str, number: signal.Signals, router: Router, ann: Operator, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    process = await started(router, way, ledger)
    assert process.stdout is not None
    assert await process.stdout.readline() == b"paying\n"
    process.send_signal(number)
    _, errors = await asyncio.wait_for(process.communicate(), 20)
    assert process.returncode == {signal.SIGINT: -signal.SIGINT, signal.SIGTERM: 128 + signal.SIGTERM}[number], errors
    assert ledger.read_text() == "paid\n"
    # It is given back, and not only left.
    async with router.run(DESK, alias="ticket", input="ticket", wait_for_owner=0) as run:
        assert await run.root.effect("pay", pytest.fail, "it was done") == 5
        asking = asyncio.create_task(run.root.ask("Go on?", key="go"))
        await ann.decide(await open_question(ann), "approve")
        await asking


@pytest.mark.parametrize("way", ["sync-work", "sync-run", "work", "run"])
async def test_a_question_that_is_waited_for_is_left_at_once(
    way: str, router: Router, ann: Operator, tmp_path: Path
) -> None:
    process = await started(router, way, tmp_path / "ledger")
    await open_question(ann)

    async def paid() -> bool | None:
        return (tmp_path / "ledger").exists() or None

    await eventually(paid)
    process.send_signal(signal.SIGTERM)
    await asyncio.wait_for(process.communicate(), 5)
    async with router.run(DESK, alias="ticket", input="ticket", wait_for_owner=0):
        assert (await open_question(ann)).reason == "Go on?"


async def test_a_second_signal_ends_the_process(router: Router, tmp_path: Path) -> None:
    process = await started(router, "work", tmp_path / "ledger")
    assert process.stdout is not None
    assert await process.stdout.readline() == b"paying\n"
    process.send_signal(signal.SIGTERM)
    await asyncio.sleep(0.1)  # one that comes before the first one was handled is the same signal
    process.send_signal(signal.SIGTERM)
    await asyncio.wait_for(process.communicate(), 20)
    assert process.returncode == -signal.SIGTERM


def test_a_signal_that_another_thread_gets_is_seen_by_one_that_waits() -> None:
    portal, seen = Portal(), threading.Event()

    def send() -> None:
        time.sleep(0.2)
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)

    async def until_seen() -> None:
        while not seen.is_set():
            await asyncio.sleep(0.01)

    before = signal.signal(signal.SIGUSR1, lambda *_: seen.set())
    try:
        sending = threading.Thread(target=send)
        sending.start()
        portal.call(asyncio.wait_for(until_seen(), 10))
        sending.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
        portal.close()
