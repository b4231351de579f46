"""Deferred tools of Pydantic AI, answered through the real server."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from people import DESK, all_questions, eventually, form_of, heard_of_stop, in_state, open_questions, resume, within
from pydantic_ai import Agent, AgentRunResult, CallDeferred, DeferredToolRequests, RunContext
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from interrupt_router import DecisionNotAllowed, Interrupt, Operator, Router, Stopped
from interrupt_router_adapters.pydantic_ai import STATE, run_agent

pytestmark = pytest.mark.anyio

KINDS = {"refund": "REFUNDS", "ask_customer": "LEGAL"}
REFUND = ToolCallPart("refund", {"cents": 500}, tool_call_id="call-1")
REFUND_2 = ToolCallPart("refund", {"cents": 7}, tool_call_id="call-2")
DONE = TextPart("done")


class Shop:
    """An agent with tools that remember their calls."""

    def __init__(self, *responses: list[ToolCallPart | TextPart]) -> None:
        self.calls: list[Any] = []
        self.said: list[Any] = []
        self.read: list[list[Any]] = []
        self.looking, self.may_end = asyncio.Event(), asyncio.Event()
        self._responses = list(responses)
        self.agent: Agent[None, str | DeferredToolRequests] = Agent(
            FunctionModel(self.respond), output_type=[str, DeferredToolRequests]
        )
        self.agent.tool(requires_approval=True)(self.refund)
        for tool in (self.look_up, self.ask_customer, self.print_label):
            self.agent.tool_plain(tool)

    def respond(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        returned = [part.content for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        self.read.append(returned)
        return ModelResponse(parts=self._responses.pop(0))

    def refund(self, context: RunContext[None], cents: int) -> str:
        self.said.append(context.tool_call_metadata)
        self.calls.append(cents)
        return f"paid {cents}"

    async def look_up(self, order: int) -> str:
        self.looking.set()
        await self.may_end.wait()
        self.calls.append("look_up")
        return f"order {order} is broken"

    def ask_customer(self, question: str) -> str:
        raise CallDeferred(kind="question")

    def print_label(self, order: int) -> str:
        raise CallDeferred


async def work(router: Router, shop: Shop, **options: Any) -> AgentRunResult[Any]:
    async with router.run(DESK, alias="t") as run:
        return await run_agent(run, shop.agent, "Settle it.", kinds=KINDS, **options)


async def test_an_approved_tool_is_called(router: Router, ann: Operator) -> None:
    shop = Shop([REFUND], [DONE])
    working = asyncio.create_task(work(router, shop))
    (question,) = await open_questions(ann)
    assert question.reason == "Call the tool refund?"
    assert question.fields == {"tool": "refund", "arguments": {"cents": 500}}
    assert (question.agent_id, form_of(question)) == (f"{question.run_id}/root/refunds", "yes_or_no")
    assert shop.calls == []
    await ann.decide(question, "approve")
    assert (await within(working)).output == "done"
    assert (shop.calls, shop.read) == ([500], [[], ["paid 500"]])
    await in_state(ann, question.run_id, "completed")


@pytest.mark.parametrize(
    ("decision", "payload", "read"),
    [
        ("reject", {}, "The tool call was rejected."),
        ("reject", {"text": "Too much."}, "Too much."),
        ("ignore", {}, "The tool call was rejected."),
        ("cancel", {}, "The tool call was rejected."),
        ("reroute", {"reroute_to": "LEGAL"}, "Not called. Continue with LEGAL instead."),
    ],
)
async def test_the_model_reads_why_a_tool_is_not_called(
    router: Router, ann: Operator, decision: Any, payload: dict[str, Any], read: str
) -> None:
    shop = Shop([REFUND], [DONE])
    working = asyncio.create_task(work(router, shop))
    (question,) = await open_questions(ann)
    await ann.decide(question, decision, **payload)
    assert (await within(working)).output == "done"
    assert (shop.calls, shop.read[-1]) == ([], [read])


async def test_a_person_edits_the_arguments(router: Router, ann: Operator) -> None:
    shop = Shop([REFUND], [DONE])
    working = asyncio.create_task(work(router, shop))
    (question,) = await open_questions(ann)
    await ann.decide(question, "edit", request={"cents": 3}, text="A voucher.")
    await within(working)
    assert (shop.calls, shop.read[-1], shop.said) == ([3], ["paid 3"], [{"text": "A voucher."}])


async def test_an_edit_that_no_route_can_carry_is_denied(router: Router, ann: Operator) -> None:
    shop = Shop([REFUND], [DONE])

    async def without_a_kind() -> None:
        async with router.run(DESK, alias="t") as run:
            await run_agent(run, shop.agent, "Settle it.")

    working = asyncio.create_task(without_a_kind())
    (question,) = await open_questions(ann)
    with suppress(DecisionNotAllowed):
        await ann.decide(question, "edit", request={"cents": 3})
        await within(working)
    assert shop.calls == []
    if not working.done():
        await ann.decide(await ann.interrupt(question.id), "reject")
        await within(working)


async def test_two_calls_of_an_answer_with_one_id_are_refused(router: Router, ann: Operator) -> None:
    shop = Shop([ToolCallPart("refund", {"cents": 100}, "call_0"), ToolCallPart("refund", {"cents": 99_999}, "call_0")])
    with pytest.raises(UnexpectedModelBehavior, match="call_0"):
        await within(work(router, shop))
    run = await ann.run("t")
    assert (run.status, await all_questions(ann, run.run_id), shop.calls) == ("failed", [], [])


@pytest.mark.parametrize("cents", [99_999, 100])
async def test_an_id_that_comes_again_is_another_question(router: Router, ann: Operator, cents: int) -> None:
    first, second = (ToolCallPart("refund", {"cents": each}, "call_0") for each in (100, cents))
    shop = Shop([first], [second], [DONE])
    working = asyncio.create_task(work(router, shop))
    (question,) = await open_questions(ann)
    await ann.decide(question, "approve")

    async def another() -> Interrupt | None:
        found = [each async for each in ann.interrupts()]
        return found[0] if found and found[0].id != question.id else None

    question = await eventually(another)
    assert question.fields["arguments"] == {"cents": cents}
    await ann.decide(question, "reject")
    await within(working)
    assert shop.calls == [100]


async def test_two_agents_of_a_run_have_a_slot_each(router: Router, ann: Operator) -> None:
    one, two = Shop([REFUND], [TextPart("one")]), Shop([REFUND_2], [TextPart("two")])

    async def both(router: Router) -> list[str]:
        async with router.run(DESK, alias="t") as run:
            return [(await run_agent(run, shop.agent, "Settle it.", kinds=KINDS)).output for shop in (one, two)]

    working = asyncio.create_task(both(router))
    for _ in range(2):
        (question,) = await open_questions(ann)
        await ann.decide(question, "approve")
    assert await within(working) == ["one", "two"]
    assert (one.calls, two.calls) == ([500], [7])


async def test_arguments_that_do_not_fit_the_route_are_rejected(router: Router, ann: Operator) -> None:
    shop = Shop([ToolCallPart("refund", {"cents": 0}, tool_call_id="call-1")], [REFUND_2], [DONE])
    working = asyncio.create_task(work(router, shop))
    for cents in (0, 7):
        (question,) = await open_questions(ann)
        assert question.fields["arguments"] == {"cents": cents}
        await ann.decide(question, "approve", text="Kindly.")
    await within(working)
    assert (shop.calls, shop.said) == ([7], [{"text": "Kindly."}])
    assert "/refund/cents" in shop.read[1][0]
    assert shop.read[1][0].endswith(" In their words: Kindly.")


async def test_all_deferred_calls_are_asked_about_at_once(router: Router, ann: Operator) -> None:
    ask = ToolCallPart("ask_customer", {"question": "Is it broken?"}, tool_call_id="call-3")
    ask_2 = ToolCallPart("ask_customer", {"question": "Who broke it?"}, tool_call_id="call-5")
    label = ToolCallPart("print_label", {"order": 17}, tool_call_id="call-4")
    shop = Shop([REFUND, REFUND_2, ask, label, ask_2], [DONE])
    printed: list[Any] = []

    async def external(call: ToolCallPart) -> str:
        printed.append(call.args_as_dict())
        return "label 9"

    working = asyncio.create_task(work(router, shop, external=external))
    questions = await open_questions(ann, 4)
    for question in reversed(questions):
        if question.fields["arguments"] == {"question": "Who broke it?"}:
            await ann.decide(question, "edit", request={"matter": "The carrier did."}, text="Ask them.")
        elif question.fields["tool"] == "ask_customer":
            assert form_of(question) == "words"
            await ann.decide(question, "respond", text="It is.")
        else:
            verdict: Any = "approve" if question.fields["arguments"] == {"cents": 7} else "reject"
            await ann.decide(question, verdict)
    await within(working)
    assert (shop.calls, printed) == ([7], [{"order": 17}])
    answers = ["It is.", "label 9", 'Ask them.\n{"matter": "The carrier did."}']
    assert shop.read[-1] == ["The tool call was rejected.", "paid 7", *answers]


async def test_the_next_worker_goes_on_from_the_history(router: Router, ann: Operator) -> None:
    run = await router.run(DESK, alias="t", lease=1.0).__aenter__()
    working = asyncio.create_task(run_agent(run, Shop([REFUND]).agent, "Settle it.", kinds=KINDS))
    (question,) = await open_questions(ann)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    kept = await run.last_checkpoint()
    assert kept is not None
    assert kept.reason == "waits for refund"
    assert kept.state[STATE]["requests"]["approvals"][0]["tool_call_id"] == "call-1"
    await run.watch.close()  # nothing renews the lease of a dead worker
    await ann.decide(question, "approve")
    # The model of the next worker is asked only for what comes after the tool.
    shop = Shop([DONE])
    assert (await within(work(router, shop))).output == "done"
    assert (shop.calls, shop.read) == ([500], [["paid 500"]])
    assert len(await all_questions(ann, run.id)) == 1


async def test_a_pause_ends_the_agent_before_its_next_request(router: Router, ann: Operator) -> None:
    shop = Shop([ToolCallPart("look_up", {"order": 17}, tool_call_id="call-0")], [REFUND], [DONE])
    with pytest.raises(Stopped):
        async with router.run(DESK, alias="t") as run:
            working = asyncio.create_task(run_agent(run, shop.agent, "Settle it.", kinds=KINDS))
            await within(shop.looking.wait())
            await ann.stop(f"{run.id}/root", scope="run", reason="lunch")
            await heard_of_stop(run)
            shop.may_end.set()
            await within(working)
    await in_state(ann, run.id, "paused")
    assert (shop.calls, shop.read) == (["look_up"], [[]])
    await resume(ann, run.id)
    working = asyncio.create_task(work(router, shop))
    (question,) = await open_questions(ann)
    await ann.decide(question, "approve")
    assert (await within(working)).output == "done"
    assert (shop.calls, shop.read) == (["look_up", 500], [[], ["order 17 is broken"], ["paid 500"]])


async def test_an_immediate_stop_cancels_a_tool(router: Router, ann: Operator) -> None:
    shop = Shop([ToolCallPart("look_up", {"order": 17}, tool_call_id="call-0")])
    with pytest.raises(Stopped):
        async with router.run(DESK, alias="t") as run:
            working = asyncio.create_task(run_agent(run, shop.agent, "Settle it.", kinds=KINDS))
            await within(shop.looking.wait())
            await ann.stop(f"{run.id}/root", mode="immediate", scope="run")
            await within(working)
    await in_state(ann, run.id, "paused")
    assert shop.calls == []
