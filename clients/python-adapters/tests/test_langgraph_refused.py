"""What LangGraph could not tell apart is refused, through the real server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Send, interrupt
from people import DESK, all_questions, open_questions, within
from test_langgraph import THREAD, Lines

from interrupt_router import Operator, Router, RouterError
from interrupt_router_adapters._interrupts import with_run
from interrupt_router_adapters.langgraph import RoutedGraph

pytestmark = pytest.mark.anyio


class Shapes:
    """Three calls of a tool that a model wants at once, each of which asks."""

    def __init__(self) -> None:
        self.drawn: list[str] = []

        @tool
        async def draw(shape: str) -> str:
            """Draws."""
            # The last one asks first.
            await asyncio.sleep({"circle": 0.2, "square": 0.1, "triangle": 0.0}[shape])
            if interrupt(f"Draw {shape}?") is True:
                self.drawn.append(shape)
            return shape

        shapes = enumerate(["circle", "square", "triangle"])
        self.calls = [{"name": "draw", "args": {"shape": shape}, "id": f"call-{n}"} for n, shape in shapes]
        self.tools = ToolNode([draw])

    def think(self, state: Any) -> Any:
        return {"messages": [AIMessage("", tool_calls=self.calls)]}

    def builder(self) -> Any:
        return StateGraph(MessagesState).add_node("think", self.think).add_edge(START, "think")


async def test_calls_that_ask_in_one_node_are_refused(router: Router, ann: Operator, saver: AsyncSqliteSaver) -> None:
    shapes = Shapes()
    builder = shapes.builder().add_node("tools", shapes.tools).add_edge("think", "tools")
    graph = RoutedGraph(builder.compile(checkpointer=saver), router, DESK)
    with pytest.raises(RouterError, match="Send") as refused:
        await within(graph.ainvoke({"messages": []}, THREAD))
    assert "draw" in refused.value.detail
    # Nothing was asked, so nothing can be answered with the yes to something else.
    run = await ann.run("t")
    assert (run.status, await all_questions(ann, run.run_id), shapes.drawn) == ("failed", [], [])


async def test_a_worker_that_died_before_it_asked_refuses_them_too(
    router: Router, ann: Operator, saver: AsyncSqliteSaver
) -> None:
    shapes = Shapes()
    graph = shapes.builder().add_node("tools", shapes.tools).add_edge("think", "tools").compile(checkpointer=saver)
    run = await router.run(DESK, alias="t", input={"messages": []}, lease=1.0).__aenter__()
    await graph.ainvoke({"messages": []}, with_run(THREAD, run.id))
    assert (await graph.aget_state(THREAD)).interrupts
    await run.watch.close()  # nothing renews the lease of a dead worker
    with pytest.raises(RouterError, match="Send"):
        await within(RoutedGraph(graph, router, DESK).ainvoke({"messages": []}, THREAD))
    assert (await all_questions(ann, run.id), shapes.drawn) == ([], [])


async def test_calls_that_have_a_node_each_are_asked_about(
    router: Router, ann: Operator, saver: AsyncSqliteSaver
) -> None:
    shapes = Shapes()

    def each(state: MessagesState) -> list[Send]:
        message = state["messages"][-1]
        assert isinstance(message, AIMessage)
        return [Send("tools", [{**call, "type": "tool_call"}]) for call in message.tool_calls]

    builder = shapes.builder().add_node("tools", shapes.tools).add_conditional_edges("think", each)
    graph = RoutedGraph(builder.compile(checkpointer=saver), router, DESK)
    invoking = asyncio.create_task(graph.ainvoke({"messages": []}, THREAD))
    for question in await open_questions(ann, 3):
        await ann.decide(question, "approve" if "circle" in question.reason else "reject")
    await within(invoking)
    assert shapes.drawn == ["circle"]


class Gathering:
    """A node that asks two things at once. The first answer goes to whichever asks first then."""

    def __init__(self, *waits: tuple[float, float]) -> None:
        self.heard: list[tuple[str, Any]] = []
        self._waits = list(waits)

    async def node(self, state: Lines) -> Lines:
        waits = self._waits.pop(0) if len(self._waits) > 1 else self._waits[0]

        async def ask(shape: str, wait: float) -> None:
            await asyncio.sleep(wait)
            self.heard.append((shape, interrupt(f"Draw {shape}?")))

        await asyncio.gather(ask("circle", waits[0]), ask("square", waits[1]))
        return {"lines": ["drawn"]}

    def graph(self, saver: AsyncSqliteSaver) -> Any:
        return StateGraph(Lines).add_node("ask", self.node).add_edge(START, "ask").compile(checkpointer=saver)


async def test_questions_that_are_gathered_in_one_node_are_refused(
    router: Router, ann: Operator, saver: AsyncSqliteSaver
) -> None:
    gathering = Gathering((0, 0))
    with pytest.raises(RouterError, match="Send"):
        await within(RoutedGraph(gathering.graph(saver), router, DESK).ainvoke({"lines": []}, THREAD))
    run = await ann.run("t")
    assert (run.status, await all_questions(ann, run.run_id), gathering.heard) == ("failed", [], [])


async def test_an_answer_reaches_no_question_that_was_not_shown(
    router: Router, ann: Operator, saver: AsyncSqliteSaver
) -> None:
    # The circle asks first and is shown; the square comes first when the node runs again.
    gathering = Gathering((0, 0.5), (0.5, 0))
    invoking = asyncio.create_task(RoutedGraph(gathering.graph(saver), router, DESK).ainvoke({"lines": []}, THREAD))
    (question,) = await open_questions(ann, 1)
    assert question.reason == "Draw circle?"
    await ann.decide(question, "approve")
    with pytest.raises(RouterError, match="Send") as refused:
        await within(invoking)
    assert "Draw square?" in refused.value.detail
    assert gathering.heard == []
