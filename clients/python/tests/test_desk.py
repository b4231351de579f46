"""The example, as a person would run it."""

from __future__ import annotations

import asyncio
import json
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


def effects(ledger: Path) -> list[tuple[str, str]]:
    entries = map(json.loads, ledger.read_text().splitlines())
    return [(ticket, effect) for effect, ticket, *_ in entries]


async def test_it_pays_what_a_person_allows(router: Router, ann: Operator, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.jsonl"
    process = await worked(router, ledger, "ticket-1")
    await ann.decide(await open_question(ann), "approve", choices=["yes"])
    assert await output(process) == "ticket-1: {'paid': 12000}\n"
    assert effects(ledger) == [("ticket-1", "find-order"), ("ticket-1", "pay")]
    again = await worked(router, ledger, "ticket-1")
    assert await output(again) == "ticket-1: completed before\n"
    assert len(effects(ledger)) == 2


async def test_it_calls_the_lawyers_or_does_nothing(router: Router, ann: Operator, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.jsonl"
    process = await worked(router, ledger, "sued", "denied")
    await ann.decide(await open_question(ann, "Refund 120 € for sued?"), "reroute", reroute_to="LEGAL")
    await ann.decide(await open_question(ann, "Refund 120 € for denied?"), "approve", choices=["no"])
    assert await output(process) == "sued: {'paid': 0}\ndenied: {'paid': 0}\n"
    assert effects(ledger) == [("sued", "find-order"), ("sued", "call-lawyers"), ("denied", "find-order")]


async def test_it_starts_a_server_of_its_own(binary: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "IRQ_BINARY": str(binary), "IRQ_STORE": str(tmp_path / "irq.db")}
    with subprocess.Popen(
        [sys.executable, "-u", DESK, "ticket-1"],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=tmp_path,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Answer on http://127.0.0.1:")
        process.terminate()
    assert process.returncode != 0
