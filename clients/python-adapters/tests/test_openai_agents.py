"""Tool approvals of the OpenAI Agents SDK, answered through the real server."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import Any

import pytest
from agents import Agent, ModelBehaviorError, RunResultStreaming, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call
from people import DESK, all_questions, form_of, heard_of_stop, in_state, open_questions, resume, within

from interrupt_router import Operator, Router, Run, Stopped
from interrupt_router_adapters.openai_agents import STATE, run_agent

pytestmark = pytest.mark.anyio

KINDS = {"refund": "REFUNDS"}
REFUND = function_call("refund", {"cents": 500}, call_id="call-1")
REFUND_2 = function_call("refund", {"cents": 7}, call_id="call-2")


class Shop:
    """An agent with tools that remember their calls."""

    def __init__(self, *outputs: Any) -> None:
        self.calls: list[Any] = []
        self.looking, self.may_end = asyncio.Event(), asyncio.Event()

        @function_tool(needs_approval=True)
        async def refund(cents: int) -> str:
            self.calls.append(cents)
            return f"paid {cents}"

        @function_tool
        async def look_up(order: int) -> str:
            self.looking.set()
            await self.may_end.wait()
            self.calls.append("look_up")
            return f"order {order} is broken"

        self.model = ScriptedModel(list(outputs))
        self.agent = Agent(name="shop", model=self.model, tools=[refund, look_up])

    def results(self) -> list[Any]:
        """The results of tools that the last call of the model has read."""
        call = self.model.last_call
        assert call is not None
        return [item["output"] for item in call.input if item.get("type") == "function_call_output"]


async def work(router: Router, shop: Shop, **options: Any) -> RunResultStreaming:
    async with router.run(DESK, alias="t") as run:
        return await run_agent(run, shop.agent, "Settle it.", kinds=KINDS, **options)


async def test_an_approved_tool_is_called(router: Router, ann: Operator) -> None:
    shop = Shop([REFUND], [assistant_message("done")])
    working = asyncio.create_task(work(router, shop))
    (question,) = await open_questions(ann)
    assert question.reason == "Call the tool refund?"
    assert question.fields == {"tool": "refund", "arguments": {"cents": 500}}
    assert (question.agent_id, form_of(question)) == (f"{question.run_id}/root/refunds", "yes_or_no")
    assert shop.calls == []
    await ann.decide(question, "approve")
    assert (await within(working)).final_output == "done"
    assert (shop.calls, shop.results()) == ([500], ["paid 500"])
    await in_state(ann, question.run_id, "completed")


@pytest.mark.parametrize(
    ("decision", "payload", "read"),
    [
        ("reject", {}, "The tool call was rejected."),
        ("reject", {"text": "Too much."}, "Too much."),
        ("ignore", {}, "The tool call was rejected."),
        ("cancel", {}, "The tool call was rejected."),
        ("reroute", {"reroute_to": "LEGAL"}, "Not called. Continue with LEGAL instead."),
        ("edit", {"request": {"cents": 3}}, "A person changed the arguments. Call refund again with {'cents': 3}."),
        (
            "edit",
            {"request": {"cents": 3}, "text": "A voucher."},
            "A person changed the arguments. Call refund again with {'cents': 3}. In their words: A voucher.",
        ),
    ],
)
async def test_the_model_reads_why_a_tool_is_not_called(
    router: Router, ann: Operator, decision: Any, payload: dict[str, Any], read: str
) -> None:
    shop = Shop([REFUND], [assistant_message("understood")])
    working = asyncio.create_task(work(router, shop))
    (question,) = await open_questions(ann)
    await ann.decide(question, decision, **payload)
    assert (await within(working)).final_output == "understood"
    assert (shop.calls, shop.results()) == ([], [read])


@pytest.mark.parametrize("again", [True, False], ids=["later", "at once"])
@pytest.mark.parametrize("cents", [99_999, 100])
async def test_an_id_is_that_of_one_call(router: Router, ann: Operator, again: bool, cents: int) -> None:
    first, second = (function_call("refund", {"cents": each}, call_id="call_0") for each in (100, cents))
    outputs: list[Any] = [[first], [second]] if again else [[first, second]]
    shop = Shop(*outputs, [assistant_message("done")])
    working = asyncio.create_task(work(router, shop))
    if again or cents == 100:
        (question,) = await open_questions(ann)
        await ann.decide(question, "approve")
    # The SDK refuses the id of another call itself, and makes the same call once.
    with pytest.raises(ModelBehaviorError, match="reused") if cents != 100 else nullcontext():
        await within(working)
    run = await ann.run("t")
    asked = len(await all_questions(ann, run.run_id))
    assert (shop.calls, asked) == (([100], 1) if again or cents == 100 else ([], 0))


async def test_two_agents_of_a_run_have_a_slot_each(router: Router, ann: Operator) -> None:
    one, two = Shop([REFUND], [assistant_message("one")]), Shop([REFUND_2], [assistant_message("two")])

    async def both() -> list[str]:
        async with router.run(DESK, alias="t") as run:
            return [(await run_agent(run, shop.agent, "Settle it.", kinds=KINDS)).final_output for shop in (one, two)]

    working = asyncio.create_task(both())
    for _ in range(2):
        (question,) = await open_questions(ann)
        await ann.decide(question, "approve")
    assert await within(working) == ["one", "two"]
    assert (one.calls, two.calls) == ([500], [7])


async def test_arguments_that_do_not_fit_the_route_are_rejected(router: Router, ann: Operator) -> None:
    shop = Shop([function_call("refund", {"cents": 0}, call_id="call-1")], [REFUND_2], [assistant_message("done")])
    working = asyncio.create_task(work(router, shop))
    for cents in (0, 7):
        (question,) = await open_questions(ann)
        assert question.fields["arguments"] == {"cents": cents}
        await ann.decide(question, "approve", text="Kindly.")
    assert (await within(working)).final_output == "done"
    assert shop.calls == [7]
    first, second = shop.results()
    assert "/refund/cents" in first
    assert first.endswith(" In their words: Kindly.")
    assert second == "paid 7"


async def test_several_tools_are_asked_about_at_once(router: Router, ann: Operator) -> None:
    shop = Shop([REFUND, REFUND_2], [assistant_message("done")])
    working = asyncio.create_task(work(router, shop))
    questions = await open_questions(ann, 2)
    for question in reversed(questions):
        verdict: Any = "approve" if question.fields["arguments"] == {"cents": 7} else "reject"
        await ann.decide(question, verdict)
    await within(working)
    assert (shop.calls, shop.results()) == ([7], ["The tool call was rejected.", "paid 7"])


async def killed_when_decided(router: Router, ann: Operator, shop: Shop, context: Any = None) -> Run:
    """A run whose worker dies after the decision, before the tool is called."""
    run = await router.run(DESK, alias="t", lease=1.0).__aenter__()
    working = asyncio.create_task(run_agent(run, shop.agent, "Settle it.", kinds=KINDS, context=context))
    (question,) = await open_questions(ann)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    await run.watch.close()  # nothing renews the lease of a dead worker
    await ann.decide(question, "approve")
    return run


@pytest.mark.parametrize("context", [None, {"customer": 5}, object()], ids=["none", "mapping", "object"])
async def test_the_next_worker_goes_on_from_the_state(
    router: Router, ann: Operator, context: Any, caplog: pytest.LogCaptureFixture
) -> None:
    run = await killed_when_decided(router, ann, Shop([REFUND]), context)
    # Its model is asked only for what comes after the tool.
    shop = Shop([assistant_message("done")])
    result = await within(work(router, shop, context=context))
    assert (result.final_output, result.context_wrapper.context) == ("done", context)
    assert [record.message for record in caplog.records if record.name.startswith("openai")] == []
    assert (shop.calls, shop.results()) == ([500], ["paid 500"])
    assert len(await all_questions(ann, run.id)) == 1


async def test_a_pause_ends_the_agent_after_its_turn(router: Router, ann: Operator) -> None:
    shop = Shop([function_call("look_up", {"order": 17}, call_id="call-0")], [REFUND], [assistant_message("done")])
    with pytest.raises(Stopped):
        async with router.run(DESK, alias="t") as run:
            working = asyncio.create_task(run_agent(run, shop.agent, "Settle it.", kinds=KINDS))
            await within(shop.looking.wait())
            await ann.stop(f"{run.id}/root", scope="run", reason="lunch")
            await heard_of_stop(run)
            shop.may_end.set()
            await within(working)
    await in_state(ann, run.id, "paused")
    assert (shop.calls, len(shop.model.calls)) == (["look_up"], 1)
    await resume(ann, run.id)
    working = asyncio.create_task(work(router, shop))
    (question,) = await open_questions(ann)
    await ann.decide(question, "approve")
    assert (await within(working)).final_output == "done"
    assert (shop.calls, len(shop.model.calls)) == (["look_up", 500], 3)


async def test_an_immediate_stop_cancels_the_turn(router: Router, ann: Operator) -> None:
    shop = Shop([function_call("look_up", {"order": 17}, call_id="call-0")])
    with pytest.raises(Stopped):
        async with router.run(DESK, alias="t") as run:
            working = asyncio.create_task(run_agent(run, shop.agent, "Settle it.", kinds=KINDS))
            await within(shop.looking.wait())
            await ann.stop(f"{run.id}/root", mode="immediate", scope="run")
            await within(working)
    await in_state(ann, run.id, "paused")
    assert shop.calls == []


async def test_the_state_is_kept_while_the_question_is_open(router: Router, ann: Operator) -> None:
    shop = Shop([REFUND])
    async with router.run(DESK, alias="t") as run:
        working = asyncio.create_task(run_agent(run, shop.agent, "Settle it.", kinds=KINDS))
        await open_questions(ann)
        kept = await run.last_checkpoint()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    assert kept is not None
    assert kept.reason == "waits for refund"
    assert kept.state[STATE]["current_step"]["type"] == "next_step_interruption"
