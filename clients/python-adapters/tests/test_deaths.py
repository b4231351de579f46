"""The examples are killed at the worst points and started again: nothing is asked twice, nothing is done twice."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from conftest import REPOSITORY
from people import WITHIN, all_questions, form_of, open_questions

from interrupt_router import Operator, Router
from interrupt_router.operator import Verdict

pytestmark = pytest.mark.anyio

EXAMPLES = ["langgraph_refund", "openai_agents_refund", "pydantic_ai_refund"]
SAID = {"langgraph_refund": "ticket-17: {'refund': {'cents': 12000}}"}
DONE = {"langgraph_refund": [["find-order", "ticket-17"], ["refund {'cents': 12000}", "ticket-17"]]}

Start: TypeAlias = Callable[[str, str], AbstractAsyncContextManager[Process]]


@pytest.fixture
def start(router: Router, tmp_path: Path) -> Start:
    """Starts an example that hangs at a point. It is killed when the block ends."""

    @asynccontextmanager
    async def starting(example: str, point: str) -> AsyncIterator[Process]:
        assert router.server is not None
        environment = {
            **os.environ,
            "IRQ_SERVER": router.server.address,
            "IRQ_TOKEN": await router.server.worker_token("desk")(),
            "DESK_LEDGER": str(tmp_path / "ledger.jsonl"),
            "DESK_GRAPH": str(tmp_path / "graph.db"),
            "DESK_LEASE": "1",
        }
        path = REPOSITORY / "examples" / "python" / f"{example}.py"
        hang = Path(__file__).with_name("hang.py")
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(hang), point, str(path), "ticket-17", stdout=PIPE, env=environment
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

    return starting


async def said(process: Process) -> str:
    """The next line that a process prints."""
    assert process.stdout is not None
    return (await asyncio.wait_for(process.stdout.readline(), WITHIN)).decode().strip()


async def decide_once(ann: Operator) -> str:
    """Approves the question that is open; returns its run."""
    (question,) = await open_questions(ann)
    assert form_of(question) == "yes_or_no"
    await ann.decide(question, "approve")
    return question.run_id


def ledger(tmp_path: Path) -> list[Any]:
    """What has happened."""
    path = tmp_path / "ledger.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def ends_once(start: Start, ann: Operator, example: str, run_id: str, tmp_path: Path) -> None:
    """Starts the example again, and expects it to end without a further question or effect."""
    async with start(example, "never") as process:
        assert await said(process) == SAID.get(example, "ticket-17: Done: paid 12000 cents.")
        assert await process.wait() == 0
    assert (await ann.run(run_id)).status == "completed"
    assert len(await all_questions(ann, run_id)) == 1
    assert ledger(tmp_path) == DONE.get(example, [["pay", "ticket-17", 12000]])


@pytest.mark.parametrize("example", EXAMPLES)
async def test_death_between_decision_and_resume(start: Start, ann: Operator, example: str, tmp_path: Path) -> None:
    async with start(example, "decided") as process:
        run_id = await decide_once(ann)
        assert await said(process) == "decided"
        process.kill()
        assert await process.wait() == -9
    assert ledger(tmp_path) == DONE.get(example, [])[:1]
    await ends_once(start, ann, example, run_id, tmp_path)


@pytest.mark.parametrize("example", EXAMPLES)
async def test_death_after_the_effect(start: Start, ann: Operator, example: str, tmp_path: Path) -> None:
    async with start(example, "done") as process:
        run_id = await decide_once(ann)
        assert await said(process) == "done"
        process.kill()
        assert await process.wait() == -9
    assert ledger(tmp_path) == DONE.get(example, [["pay", "ticket-17", 12000]])
    await ends_once(start, ann, example, run_id, tmp_path)


@pytest.mark.parametrize(
    ("decision", "payload"),
    [
        ("reject", {"text": "He is a fraud."}),
        ("ignore", {}),
        ("cancel", {}),
    ],
)
@pytest.mark.parametrize("example", EXAMPLES)
async def test_nothing_is_paid_after_a_no(
    start: Start, ann: Operator, example: str, decision: Verdict, payload: dict[str, Any], tmp_path: Path
) -> None:
    async with start(example, "never") as process:
        (question,) = await open_questions(ann)
        await ann.decide(question, decision, **payload)
        assert (await said(process)).startswith("ticket-17: ")
        assert await process.wait() == 0
    assert ledger(tmp_path) == DONE.get(example, [])[:1]


@pytest.mark.parametrize("example", EXAMPLES)
async def test_death_while_the_question_is_open(start: Start, ann: Operator, example: str, tmp_path: Path) -> None:
    async with start(example, "never") as process:
        (question,) = await open_questions(ann)
        process.kill()
        assert await process.wait() == -9
    async with start(example, "decided") as process:
        assert await decide_once(ann) == question.run_id
        assert await said(process) == "decided"
    await ends_once(start, ann, example, question.run_id, tmp_path)
