"""LangGraph without ``async``, answered through the real server. The graph runs in a thread, people in the loop."""

from __future__ import annotations

import asyncio
import operator
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from people import DESK, WITHIN, all_questions, form_of, in_state, open_questions, resume, within

from interrupt_router import Operator, RunFinished, Stopped
from interrupt_router import Router as AsyncRouter
from interrupt_router.sync import Router
from interrupt_router_adapters.langgraph_sync import RoutedGraph, invoke

pytestmark = pytest.mark.anyio

THREAD: RunnableConfig = {"configurable": {"thread_id": "t"}}


class Lines(TypedDict, total=False):
    lines: Annotated[list[Any], operator.add]


@pytest.fixture
def saver(tmp_path: Path) -> Iterator[SqliteSaver]:
    with SqliteSaver.from_conn_string(str(tmp_path / "graph.db")) as saver:
        yield saver


@pytest.fixture
async def worker(router: AsyncRouter) -> Router:
    """A synchronous router of the same server."""
    assert router.server is not None
    return Router(router.server.address, await router.server.worker_token("desk")())


def one(state: Lines) -> Lines:
    return {"lines": [interrupt("Which one?")]}


def two(state: Lines) -> Lines:
    return {"lines": [interrupt("two?")]}


async def test_parallel_branches_ask_at_once(worker: Router, ann: Operator, saver: SqliteSaver) -> None:
    builder = StateGraph(Lines).add_node(one).add_node(two).add_edge(START, "one").add_edge(START, "two")

    def work() -> Any:
        with worker as opened:
            graph = RoutedGraph(builder.compile(checkpointer=saver), opened, DESK, kinds={"two": "LEGAL"})
            first = graph.invoke({}, THREAD)
            assert graph.invoke({}, THREAD) == first
            return first

    working = asyncio.create_task(asyncio.to_thread(work))
    questions = await open_questions(ann, 2)
    asked = {question.reason: (question.agent_type, form_of(question)) for question in questions}
    assert asked == {"Which one?": ("DESK", "words"), "two?": ("LEGAL", None)}
    for question in reversed(questions):
        await ann.decide(question, "respond", text=f"answer to {question.reason}")
    assert await within(working) == {"lines": ["answer to Which one?", "answer to two?"]}
    assert len(await all_questions(ann, questions[0].run_id)) == 2


@pytest.mark.parametrize(("mode", "ends"), [("graceful", "paused"), ("immediate", "paused"), ("cancel", "cancelled")])
async def test_a_stop_ends_the_graph_at_the_next_boundary(
    worker: Router, ann: Operator, saver: SqliteSaver, mode: Any, ends: str
) -> None:
    done: list[str] = []
    started, may_end = threading.Event(), threading.Event()

    def first(state: Lines) -> Lines:
        started.set()
        may_end.wait(WITHIN)
        done.append("first")
        return {}

    def second(state: Lines) -> Lines:
        done.append("second")
        return {}

    graph = StateGraph(Lines).add_sequence([first, second]).add_edge(START, "first").compile(checkpointer=saver)
    run_ids: list[str] = []

    def work() -> None:
        with worker as opened, opened.run(DESK, alias="t") as run:
            run_ids.append(run.id)
            invoke(run, graph, {}, THREAD)

    working = asyncio.create_task(asyncio.to_thread(work))
    assert await asyncio.to_thread(started.wait, WITHIN)
    (run_id,) = run_ids
    if mode == "cancel":
        await ann.cancel(run_id)
    else:
        await ann.stop(f"{run_id}/root", mode=mode, scope="run")
    may_end.set()
    with pytest.raises(Stopped):
        await within(working)
    await in_state(ann, run_id, ends)
    assert done == ["first"]
    if ends == "cancelled":
        with pytest.raises(RunFinished):
            await asyncio.to_thread(work)
        assert done == ["first"]
    else:
        await resume(ann, run_id)
        await asyncio.to_thread(work)
        assert done == ["first", "second"]
