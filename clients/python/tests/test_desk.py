"""The example, as a person would run it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY
from waiting import open_question

from interrupt_router import Operator, Router

pytestmark = pytest.mark.anyio

DESK = REPOSITORY / "examples" / "python" / "desk.py"


async def worked(router: Router, ledger: Path, *arguments: str) -> subprocess.Popen[str]:
    """The example, started as a worker of the server."""
    assert router.server is not None
    token = await router.server.worker_token("desk")()
    environment = {**os.environ, "IRQ_SERVER": router.server.address, "IRQ_TOKEN": token, "DESK_LEDGER": str(ledger)}
    return subprocess.Popen([sys.executable, DESK, *arguments], stdout=subprocess.PIPE, text=True, env=environment)


async def output(process: subprocess.Popen[str]) -> str:
    said, _ = await asyncio.to_thread(process.communicate, timeout=60)
    assert process.returncode == 0
    return said


async def test_it_pays_what_a_person_allows(router: Router, ann: Operator, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.txt"
    process = await worked(router, ledger, "200")
    await ann.decide(await open_question(ann, "What was in order 200 is broken"), "reroute", reroute_to="REFUNDS")
    asked = await open_question(ann)
    assert asked.reason.startswith("Pay back 20000 cents?")
    assert asked.fields == {"cents": 20_000}
    await ann.decide(asked, "approve")
    assert await output(process) == "order 200: paid back 20000 cents for order 200\n"
    assert ledger.read_text().count("the bank pays 20000 cents for order 200") == 1
    again = await worked(router, ledger, "200")
    assert await output(again) == "order 200: completed before\n"
    assert len(ledger.read_text().splitlines()) == 1


async def test_it_goes_where_a_person_sends_a_ticket(router: Router, ann: Operator, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.txt"
    process = await worked(router, ledger, "17", "18")
    await ann.decide(await open_question(ann, "What was in order 17 is broken"), "reroute", reroute_to="LEGAL")
    await ann.decide(await open_question(ann, "What was in order 18 is broken"), "reroute", reroute_to="REFUNDS")
    # It costs little, so nothing is asked.
    objected, paid = (await output(process)).split("order 18: ")
    assert objected.startswith("order 17: objected: ")
    assert paid == "paid back 1800 cents for order 18\n"
    assert [line.split(" (")[0] for line in ledger.read_text().splitlines()] == [
        "the bank pays 1800 cents for order 18"
    ]


async def test_it_starts_a_server_of_its_own(binary: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "IRQ_BINARY": str(binary), "IRQ_STORE": str(tmp_path / "irq.db")}
    with subprocess.Popen(
        [sys.executable, "-u", DESK, "17"],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=tmp_path,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Answer on http://127.0.0.1:")
        process.terminate()
    assert process.returncode != 0
