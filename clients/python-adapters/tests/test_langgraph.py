"""LangGraph's interrupts, answered through the real server."""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Interrupt, Send, interrupt
from people import DESK, all_questions, form_of, heard_of_stop, in_state, open_questions, resume, within

from interrupt_router import (
    Decided,
    NameTaken,
    NarrowedSchema,
    Operator,
    Routed,
    Router,
    RunFinished,
    Stopped,
)
from interrupt_router_adapters.langgraph import RoutedGraph, ainvoke

pytestmark = pytest.mark.anyio

THREAD: RunnableConfig = {"configurable": {"thread_id": "t"}}


class Lines(TypedDict, total=False):
    lines: Annotated[list[Any], operator.add]


class Name(TypedDict):
    name: str


class Sample(TypedDict):
    foo: str
    human_value: str | None


def ask_age(state: Sample) -> dict[str, Any]:
    return {"human_value": interrupt("what is your age?")}


async def test_the_sample_of_langgraph_runs_to_its_end(router: Router, ann: Operator, saver: AsyncSqliteSaver) -> None:
    # The example in the documentation of `interrupt`, with one wrapper.
    builder = StateGraph(Sample).add_node("node", ask_age).add_edge(START, "node")
    graph = RoutedGraph(builder.compile(checkpointer=saver), router, DESK)
    invoking = asyncio.create_task(graph.ainvoke({"foo": "abc"}, THREAD))
    (question,) = await open_questions(ann)
    assert (question.reason, form_of(question)) == ("what is your age?", "words")
    assert question.agent_id == f"{question.run_id}/root"
    await ann.decide(question, "respond", text="42")
    assert await within(invoking) == {"foo": "abc", "human_value": "42"}
    run = await ann.run("t")
    assert (run.status, run.run_id) == ("completed", question.run_id)


@pytest.mark.parametrize(
    ("decision", "payload", "expected"),
    [
        ("reject", {}, False),
        ("ignore", {}, False),
        ("cancel", {}, False),
        # Marked, and then rejected: a no is a no.
        ("reject", {"choices": ["yes"], "text": "He is a fraud."}, False),
        ("respond", {"choices": ["yes"]}, "yes"),
    ],
)
async def test_what_interrupt_returns(
    router: Router, ann: Operator, saver: AsyncSqliteSaver, decision: Any, payload: dict[str, Any], expected: Any
) -> None:
    def review(state: Lines) -> Lines:
        asked = {"question": "Delete?", "choices": ["yes", "no"], "path": "/tmp/x", "reason": "old"}
        return {"lines": [interrupt(asked)]}

    builder = StateGraph(Lines).add_node(review).add_edge(START, "review")
    graph = RoutedGraph(builder.compile(checkpointer=saver), router, DESK)
    invoking = asyncio.create_task(graph.ainvoke({}, THREAD))
    (question,) = await open_questions(ann)
    assert (question.reason, [choice.value for choice in question.choices]) == ("Delete?", ["yes", "no"])
    assert question.fields == {"path": "/tmp/x", "reason_": "old"}
    await ann.decide(question, decision, **payload)
    assert await within(invoking) == {"lines": [expected]}


def tool_call(*, accept: bool, respond: bool) -> list[dict[str, Any]]:
    """A `HumanInterrupt`, as LangGraph's own agents hand it over."""
    config = {"allow_accept": accept, "allow_respond": respond, "allow_edit": True, "allow_ignore": True}
    return [{"action_request": {"action": "pay", "args": {"cents": 5}}, "config": config, "description": None}]


TAKEN: list[tuple[Any, str | None]] = [
    ("What is the name of the oven?", "words"),
    ("Refund 120 €?", None),
    ("How about 120 €?", None),
    ("When it is broken, shall I pay?", None),
    ({"question": "Which one?"}, "words"),
    ({"question": "Which one?", "proposed": "this one"}, None),
    ({"question": "Which one?", "options": ["a", "b"]}, "one_of"),
    ({"question": "Which ones?", "options": ["a", "b"], "answer_form": "any_of"}, "any_of"),
    ({"question": "Refund 120 €?", "answer_form": "yes_or_no"}, "yes_or_no"),
    ({"question": "Refund 120 €?", "answer_form": "none", "request": 1, "answerForm": 2}, None),
    (tool_call(accept=True, respond=False), "yes_or_no"),
    (tool_call(accept=False, respond=True), "words"),
    (tool_call(accept=True, respond=True), None),
    ({"review_configs": [{"action_name": "pay", "allowed_decisions": ["approve", "edit", "reject"]}]}, "yes_or_no"),
    ({"review_configs": [{"action_name": "ask", "allowed_decisions": ["respond"]}]}, "words"),
]


async def test_what_a_question_takes_follows_from_what_is_interrupted_with(
    router: Router, ann: Operator, saver: AsyncSqliteSaver
) -> None:
    def review(state: Lines) -> Lines:
        return {"lines": [interrupt(value) for value, _ in TAKEN]}

    builder = StateGraph(Lines).add_node(review).add_edge(START, "review")
    graph = RoutedGraph(builder.compile(checkpointer=saver), router, DESK)
    invoking = asyncio.create_task(graph.ainvoke({}, THREAD))
    for value, taken in TAKEN:
        (question,) = await open_questions(ann)
        assert form_of(question) == taken, value
        await ann.decide(question, "reject")
    assert await within(invoking) == {"lines": [False] * len(TAKEN)}


async def test_parallel_branches_ask_at_once(router: Router, ann: Operator, saver: AsyncSqliteSaver) -> None:
    done: list[str] = []

    def prepare(state: Lines) -> Lines:
        done.append("prepare")
        return {}

    def fan_out(state: Lines) -> list[Send]:
        return [Send("review", {"name": name}) for name in "abc"]

    def review(state: Name) -> Lines:
        return {"lines": [(state["name"], interrupt(f"{state['name']}?"))]}

    def finish(state: Lines) -> Lines:
        done.append("finish")
        return {}

    builder = StateGraph(Lines).add_node(prepare).add_node(review).add_node(finish)
    builder.add_edge(START, "prepare").add_conditional_edges("prepare", fan_out).add_edge("review", "finish")
    graph = RoutedGraph(builder.compile(checkpointer=saver), router, DESK)
    invoking = asyncio.create_task(graph.ainvoke({}, THREAD))
    questions = await open_questions(ann, 3)
    for question in reversed(questions):
        await ann.decide(question, "respond", text=f"answer to {question.reason}")
    answers = (await within(invoking))["lines"]
    assert sorted(map(tuple, answers)) == [(name, f"answer to {name}?") for name in "abc"]
    assert done == ["prepare", "finish"]
    assert len(await all_questions(ann, questions[0].run_id)) == 3


async def test_one_node_asks_several_times_and_a_loop_asks_again(
    router: Router, ann: Operator, saver: AsyncSqliteSaver
) -> None:
    def review(state: Lines) -> Lines:
        return {"lines": [interrupt("first?"), interrupt("second?")]}

    def again(state: Lines) -> str:
        return "review" if len(state["lines"]) < 4 else "__end__"

    builder = StateGraph(Lines).add_node(review).add_edge(START, "review").add_conditional_edges("review", again)
    graph = RoutedGraph(builder.compile(checkpointer=saver), router, DESK)
    invoking = asyncio.create_task(graph.ainvoke({}, THREAD))
    asked = []
    for n in range(4):
        (question,) = await open_questions(ann)
        asked.append(question.reason)
        await ann.decide(question, "respond", text=str(n))
    assert await within(invoking) == {"lines": ["0", "1", "2", "3"]}
    assert asked == ["first?", "second?"] * 2


async def test_the_interrupt_of_a_subgraph(router: Router, ann: Operator, saver: AsyncSqliteSaver) -> None:
    def review(state: Lines) -> Lines:
        return {"lines": [interrupt("inner?")]}

    inner = StateGraph(Lines).add_node(review).add_edge(START, "review").compile()
    builder = StateGraph(Lines).add_node("outer", inner).add_edge(START, "outer")
    graph = RoutedGraph(builder.compile(checkpointer=saver), router, DESK)
    invoking = asyncio.create_task(graph.ainvoke({}, THREAD))
    (question,) = await open_questions(ann)
    await ann.decide(question, "respond", text="yes")
    assert await within(invoking) == {"lines": ["yes"]}


@pytest.mark.parametrize(("reroute_to", "field"), [(None, "refund"), ("LEGAL", "legal")])
async def test_a_model_fills_in_the_one_route(
    router: Router, ann: Operator, saver: AsyncSqliteSaver, reroute_to: str | None, field: str
) -> None:
    said = {"refund": '{"refund": {"cents": 500}}', "legal": '{"legal": {"matter": "damages"}}'}

    async def model(schema: NarrowedSchema, messages: Any) -> str:
        fake = FakeListChatModel(responses=[said[schema.field]])
        return str((await fake.ainvoke([dict(message) for message in messages])).content)

    async def answer(asked: Interrupt[Any], routed: Decided) -> Any:
        assert isinstance(routed, Routed)
        assert routed.route is not None
        return {routed.route.field: vars(await routed.fill(model))}

    def review(state: Lines) -> Lines:
        return {"lines": [interrupt("Refund?")]}

    builder = StateGraph(Lines).add_node(review).add_edge(START, "review")
    graph = RoutedGraph(builder.compile(checkpointer=saver), router, DESK, kinds={"review": "REFUNDS"}, answer=answer)
    invoking = asyncio.create_task(graph.ainvoke({}, THREAD))
    (question,) = await open_questions(ann)
    assert question.agent_id == f"{question.run_id}/root/refunds"
    await ann.decide(question, "reroute" if reroute_to else "approve", reroute_to=reroute_to)
    expected = {"refund": {"refund": {"cents": 500}}, "legal": {"legal": {"matter": "damages"}}}
    assert await within(invoking) == {"lines": [expected[field]]}


class Steps:
    """Three nodes; the second one waits until the test lets it go on."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.started, self.may_end = asyncio.Event(), asyncio.Event()

    async def first(self, state: Lines) -> Lines:
        self.done.append("first")
        return {"lines": ["first"]}

    async def second(self, state: Lines) -> Lines:
        self.started.set()
        await self.may_end.wait()
        self.done.append("second")
        return {"lines": ["second"]}

    async def third(self, state: Lines) -> Lines:
        self.done.append("third")
        return {"lines": ["third"]}

    def builder(self) -> StateGraph[Lines]:
        builder = StateGraph(Lines)
        for node in (self.first, self.second, self.third):
            builder.add_node(node.__name__, node)
        return builder.add_edge(START, "first").add_edge("first", "second").add_edge("second", "third")


async def test_a_pause_ends_the_graph_at_the_next_boundary(
    router: Router, ann: Operator, saver: AsyncSqliteSaver
) -> None:
    steps = Steps()
    graph = steps.builder().compile(checkpointer=saver)
    with pytest.raises(Stopped):
        async with router.run(DESK, alias="t") as run:
            invoking = asyncio.create_task(ainvoke(run, graph, {}, THREAD))
            await within(steps.started.wait())
            await ann.stop(f"{run.id}/root", scope="run", reason="lunch")
            await heard_of_stop(run)
            steps.may_end.set()
            await within(invoking)
    await in_state(ann, run.id, "paused")
    assert steps.done == ["first", "second"]
    await resume(ann, run.id)
    assert await RoutedGraph(graph, router, DESK).ainvoke(None, THREAD) == {"lines": ["first", "second", "third"]}
    assert steps.done == ["first", "second", "third"]
    await in_state(ann, run.id, "completed")


async def test_a_cancelled_run_ends_the_graph_at_the_next_boundary(
    router: Router, ann: Operator, saver: AsyncSqliteSaver
) -> None:
    steps = Steps()
    graph = steps.builder().compile(checkpointer=saver)
    with pytest.raises(Stopped):
        async with router.run(DESK, alias="t") as run:
            invoking = asyncio.create_task(ainvoke(run, graph, {}, THREAD))
            await within(steps.started.wait())
            await ann.cancel(run.id)
            await heard_of_stop(run)
            steps.may_end.set()
            await within(invoking)
    await in_state(ann, run.id, "cancelled")
    assert steps.done == ["first", "second"]
    with pytest.raises(RunFinished):
        await RoutedGraph(graph, router, DESK).ainvoke(None, THREAD)
    assert steps.done == ["first", "second"]


async def test_an_immediate_stop_cancels_a_node(router: Router, ann: Operator, saver: AsyncSqliteSaver) -> None:
    steps = Steps()
    graph = steps.builder().compile(checkpointer=saver)
    with pytest.raises(Stopped):
        async with router.run(DESK, alias="t") as run:
            invoking = asyncio.create_task(ainvoke(run, graph, {}, THREAD))
            await within(steps.started.wait())
            await ann.stop(f"{run.id}/root", mode="immediate", scope="run")
            await within(invoking)
    await in_state(ann, run.id, "paused")
    assert steps.done == ["first"]
    steps.may_end.set()
    await resume(ann, run.id)
    await RoutedGraph(graph, router, DESK).ainvoke(None, THREAD)
    assert steps.done == ["first", "second", "third"]


async def test_a_pause_while_the_question_is_open(router: Router, ann: Operator, saver: AsyncSqliteSaver) -> None:
    builder = StateGraph(Sample).add_node("node", ask_age).add_edge(START, "node")
    graph = RoutedGraph(builder.compile(checkpointer=saver), router, DESK)
    invoking = asyncio.create_task(graph.ainvoke({"foo": "abc"}, THREAD))
    (question,) = await open_questions(ann)
    await ann.stop(f"{question.run_id}/root", scope="run")
    with pytest.raises(Stopped):
        await within(invoking)
    await in_state(ann, question.run_id, "paused")
    await resume(ann, question.run_id)
    invoking = asyncio.create_task(graph.ainvoke({"foo": "abc"}, THREAD))
    await ann.decide(await ann.interrupt(question.id), "respond", text="42")
    assert (await within(invoking))["human_value"] == "42"
    assert len(await all_questions(ann, question.run_id)) == 1


async def test_a_pause_between_decision_and_resume(router: Router, ann: Operator, saver: AsyncSqliteSaver) -> None:
    builder = StateGraph(Sample).add_node("node", ask_age).add_edge(START, "node")
    graph = builder.compile(checkpointer=saver)
    with pytest.raises(Stopped):
        async with router.run(DESK, alias="t", input={"foo": "abc"}) as run:

            async def answer(asked: Interrupt[Any], routed: Decided) -> Any:
                assert isinstance(routed, Routed)
                await ann.stop(f"{run.id}/root", scope="run")
                await heard_of_stop(run)
                return routed.text

            invoking = asyncio.create_task(ainvoke(run, graph, {"foo": "abc"}, THREAD, answer=answer))
            (question,) = await open_questions(ann)
            await ann.decide(question, "respond", text="42")
            await within(invoking)
    await in_state(ann, run.id, "paused")
    assert (await graph.aget_state(THREAD)).next == ("node",)
    await resume(ann, run.id)
    result = await within(RoutedGraph(graph, router, DESK).ainvoke({"foo": "abc"}, THREAD))
    assert result["human_value"] == "42"
    assert len(await all_questions(ann, run.id)) == 1


async def test_the_next_worker_goes_on_from_the_checkpoint(
    router: Router, ann: Operator, saver: AsyncSqliteSaver
) -> None:
    prepared: list[str] = []

    def prepare(state: Lines) -> Lines:
        prepared.append("prepare")
        return {"lines": ["prepared"]}

    def one(state: Lines) -> Lines:
        return {"lines": [interrupt("one?")]}

    def two(state: Lines) -> Lines:
        return {"lines": [interrupt("two?")]}

    builder = StateGraph(Lines).add_node(prepare).add_node(one).add_node(two)
    builder.add_edge(START, "prepare").add_edge("prepare", "one").add_edge("prepare", "two")
    graph = builder.compile(checkpointer=saver)
    run = await router.run(DESK, alias="t", input={}, lease=1.0).__aenter__()
    working = asyncio.create_task(ainvoke(run, graph, {}, THREAD))
    first, second = sorted(await open_questions(ann, 2), key=lambda question: question.reason)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    await run.watch.close()  # nothing renews the lease of a dead worker
    # One is decided while no worker has the run, the other one afterwards.
    await ann.decide(first, "respond", text="1")
    working = asyncio.create_task(RoutedGraph(graph, router, DESK).ainvoke({}, THREAD))
    await ann.decide(second, "respond", text="2")
    assert await within(working) == {"lines": ["prepared", "1", "2"]}
    assert prepared == ["prepare"]
    assert len(await all_questions(ann, run.id)) == 2


class Chat(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]


async def test_each_turn_of_a_thread_is_a_run(router: Router, ann: Operator, saver: AsyncSqliteSaver) -> None:
    model = FakeListChatModel(responses=["one", "two", "three"])
    calls: list[int] = []

    async def talk(state: Chat) -> Any:
        calls.append(len(state["messages"]))
        return {"messages": [await model.ainvoke(state["messages"])]}

    builder = StateGraph(Chat).add_node(talk).add_edge(START, "talk")
    graph = RoutedGraph(builder.compile(checkpointer=saver), router, DESK)
    first = await graph.ainvoke({"messages": [("user", "hi")]}, THREAD)
    assert [message.content for message in first["messages"]] == ["hi", "one"]
    # The same invocation again, as after a death: its output, and no call of the model.
    again = await graph.ainvoke({"messages": [("user", "hi")]}, THREAD)
    assert again == first
    with pytest.raises(NameTaken):
        await graph.ainvoke({"messages": [("user", "more")]}, THREAD)
    second = await graph.ainvoke({"messages": [("user", "more")]}, THREAD, alias="t-2")
    assert [message.content for message in second["messages"]] == ["hi", "one", "more", "two"]
    assert calls == [1, 3]


async def test_a_run_that_died_after_the_last_node_does_nothing_again(
    router: Router, ann: Operator, saver: AsyncSqliteSaver
) -> None:
    steps = Steps()
    steps.may_end.set()
    graph = steps.builder().compile(checkpointer=saver)
    async with router.run(DESK, alias="t") as run:
        first = await ainvoke(run, graph, {}, THREAD)
        assert await ainvoke(run, graph, {}, THREAD) == first
    assert steps.done == ["first", "second", "third"]
