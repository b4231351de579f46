"""Questions and routes, over the real server."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Sequence
from typing import Any

import pytest
from desk import DESK, LegalRequest, Model, RefundRequest, again, killed, routed_by
from typing_extensions import assert_never
from waiting import eventually, open_question

from interrupt_router import (
    Answered,
    AnswerRejected,
    Approved,
    Choice,
    Confirmation,
    Conflict,
    Decided,
    Declined,
    Expired,
    IdempotencyConflict,
    Kind,
    Operator,
    Rerouted,
    Routed,
    Router,
    RouterError,
    Run,
    Unfilled,
    Withdrawn,
    Workflow,
)
from interrupt_router.operator import Verdict

pytestmark = pytest.mark.anyio


async def refund(run: Run) -> Decided:
    return await (await run.agent("REFUNDS")).ask("Refund 120 €?", key="refund", choices=["yes", "no"])


async def asked(run: Run) -> Routed:
    return routed_by(await refund(run))


async def test_a_person_decides_and_a_model_fills_in_the_route(router: Router, ann: Operator) -> None:
    async with router.run(DESK) as run:
        agent = await run.agent("REFUNDS")
        asking = asyncio.create_task(
            agent.ask(
                "Refund 120 €?",
                key="refund",
                context="Order 17 arrived broken.",
                choices=[Choice("yes", "Pay", "The customer gets the money."), "no"],
                confirmations=[Confirmation("seen", "Did you see the photo?", default=True)],
                fields={"cents": 12_000},
            )
        )
        question = await open_question(ann)
        assert (question.reason, question.context) == ("Refund 120 €?", "Order 17 arrived broken.")
        assert [(choice.value, choice.label) for choice in question.choices] == [("yes", "Pay"), ("no", "no")]
        assert question.confirmations[0].default_value is True
        assert question.fields["cents"] == 12_000
        assert question.agent_id == f"{run.id}/root/refunds"
        await ann.decide(question, "respond", choices=["yes"], text="Kindly.", confirmations={"seen": False})

        routed = await asking
        assert isinstance(routed, Answered)
        assert (routed.decision.decision, routed.decision.by) == ("respond", "ann")
        assert (routed.choices, routed.text) == (("yes",), "Kindly.")
        assert routed.confirmations == {"seen": False}
        assert routed.route is not None
        assert (routed.route.name, routed.route.field, routed.route.rerouted) == ("REFUNDS", "refund", False)
        assert routed.request is None
        model = Model({"refund": {"cents": 12_000}})
        assert await routed.fill(model) == RefundRequest(12_000)
        assert list(model.schemas[0].schema["properties"]) == ["refund"]
        assert "Kindly." in model.told[0][0]["content"]


async def test_nothing_is_asked_twice(router: Router, ann: Operator) -> None:
    run = await killed(router.run(DESK, alias="t", lease=1.0))
    asking = asyncio.create_task(asked(run))
    question = await open_question(ann)
    asking.cancel()
    async with again(router, run) as taken:
        asking = asyncio.create_task(asked(taken))
        await ann.decide(await ann.interrupt(question.id), "approve", choices=["yes"])
        routed = await asking
        assert await routed.fill(Model({"refund": {"cents": 1}})) == RefundRequest(1)
        # The request is kept, too: no model is asked again.
        assert await (await asked(taken)).fill(Model()) == RefundRequest(1)
    assert [interrupt.id async for interrupt in ann.interrupts("resolved", run_id=run.id)] == [question.id]


async def test_a_key_stands_for_one_question(router: Router, ann: Operator) -> None:
    async with router.run(DESK) as run:
        refunds = await run.agent("REFUNDS")
        asking = asyncio.create_task(refunds.ask("Pay Ann 5?", key="pay", fields={"cents": 5}))
        await ann.decide(await open_question(ann), "approve")
        assert isinstance(await asking, Approved)
        with pytest.raises(IdempotencyConflict) as conflict:
            await refunds.ask("Pay Bob 500000?", key="pay", fields={"cents": 500_000})
        assert conflict.value.differs == ("reason", "fields.cents")


async def test_a_person_sends_the_answer_elsewhere(router: Router, ann: Operator) -> None:
    async with router.run(DESK) as run:
        asking = asyncio.create_task(asked(run))
        await ann.decide(await open_question(ann), "reroute", reroute_to="LEGAL")
        routed = await asking
        assert routed.route is not None
        assert (routed.route.name, routed.route.rerouted) == ("LEGAL", True)
        with pytest.raises(AnswerRejected):
            await routed.submit({"refund": {"cents": 5}})
        assert await routed.submit('{"legal": {"matter": "damages"}}') == LegalRequest("damages")


async def test_a_supervisor_sends_the_next_answer_elsewhere(router: Router, ann: Operator) -> None:
    async with router.run(DESK) as run:
        refunds = await run.agent("REFUNDS")
        assert await refunds.interrupt_request() is None
        seen = await ann.agent(f"{run.id}/root/refunds")
        fate = await ann.request_interrupt(seen, "Let legal look", reroute_to="LEGAL", event_id="event-1")
        assert fate.target == "LEGAL"
        request = await eventually(refunds.interrupt_request)
        assert (request.reason, request.reroute_to) == ("Let legal look", "LEGAL")

        asking = asyncio.create_task(asked(run))
        question = await open_question(ann)
        assert (await ann.interrupt(request.interrupt_id)).state == "cancelled"
        await ann.decide(question, "approve", choices=["yes"])
        routed = await asking
        assert routed.route is not None
        assert (routed.route.name, routed.route.rerouted) == ("LEGAL", True)
        assert (await ann.interrupt_request("event-1")).decision is not None
        assert await refunds.interrupt_request() is None


async def test_a_model_is_told_what_does_not_fit(router: Router, ann: Operator) -> None:
    async with router.run(DESK) as run:
        asking = asyncio.create_task(asked(run))
        await ann.decide(await open_question(ann), "approve", choices=["yes"])
        model = Model("I would pay.", {"refund": {"cents": 0}}, {"refund": {"cents": 9}})
        assert await (await asking).fill(model, dialect="openai") == RefundRequest(9)
        assert model.schemas[0].dialect == "openai"
        last = model.told[-1]
        assert [message["role"] for message in last] == ["user", "assistant", "user", "assistant", "user"]
        assert last[1]["content"] == "I would pay."
        assert "/refund/cents" in last[4]["content"]


@pytest.mark.parametrize("decision", ["edit", "reject"])
async def test_where_the_model_keeps_failing_a_person_is_asked(
    decision: Verdict, router: Router, ann: Operator
) -> None:
    run = await killed(router.run(DESK, alias="t", lease=1.0))
    asking = asyncio.create_task(asked(run))
    await ann.decide(await open_question(ann), "approve", choices=["yes"])
    routed = await asking
    for _ in range(3):
        with pytest.raises(AnswerRejected):
            await routed.submit("no")
    assert await routed.submit("no") is None
    async with again(router, run) as taken:
        # Asked again before a person says anything: after a no it would be declined.
        routed = await asked(taken)

        async def fill() -> Any:
            return await routed.fill(Model())

        filling = asyncio.create_task(fill())
        question = await open_question(ann)
        assert "could not fill in" in question.reason
        given = {"cents": 7} if decision == "edit" else None
        await ann.decide(question, decision, request=given, text="He is a fraud.")
        if given:
            assert await filling == RefundRequest(7)
        else:
            with pytest.raises(Unfilled, match=r"reject: He is a fraud\."):
                await filling


async def test_a_person_gives_the_request_with_the_decision(router: Router, ann: Operator) -> None:
    async with router.run(DESK) as run:
        asking = asyncio.create_task(asked(run))
        await ann.decide(await open_question(ann), "edit", request={"cents": 3})
        routed = await asking
        assert routed.request == RefundRequest(3)
        assert await routed.fill(Model()) == RefundRequest(3)


async def test_a_kind_without_a_route_has_the_decision_alone(router: Router, ann: Operator) -> None:
    async with router.run(DESK) as run:
        asking = asyncio.create_task(run.root.ask("Go on?", key="go"))
        await ann.decide(await open_question(ann), "approve")
        routed = routed_by(await asking)
        assert routed.route is None
        with pytest.raises(Conflict):
            await routed.fill(Model())


async def test_a_question_without_a_decision_is_told(router: Router, ann: Operator) -> None:
    async with router.run(DESK) as run:
        asking = asyncio.create_task(refund(run))
        await open_question(ann)
        await run.root.withdraw("refund")
        assert await asking == Withdrawn(key="refund")


async def test_a_deadline_expires(router: Router) -> None:
    async with router.run(DESK) as run:
        agent = await run.agent("REFUNDS")
        expired = await agent.ask("Refund?", key="refund", deadline=datetime.timedelta(milliseconds=50))
        assert isinstance(expired, Expired)
        assert expired.decision is not None
        assert (expired.decision.decision, expired.decision.by) == ("reject", "deadline")


@pytest.mark.parametrize(
    ("decision", "payload", "meaning"),
    [
        ("approve", {"text": "be quick", "confirmations": {"seen": True}}, Approved),
        ("edit", {"request": {"cents": 3}, "text": "a voucher"}, Approved),
        ("approve", {"choices": ["yes"], "confirmations": {"seen": True}}, Answered),
        ("approve", {"choices": ["no"], "confirmations": {"seen": True}}, Answered),
        ("approve", {"text": "yes", "confirmations": {"seen": False}}, Answered),
        ("respond", {"text": "No! He is a fraud."}, Answered),
        ("reroute", {"reroute_to": "LEGAL"}, Rerouted),
        ("reject", {"text": "He is a fraud.", "choices": ["yes"], "confirmations": {"seen": True}}, Declined),
        ("ignore", {"choices": ["yes"]}, Declined),
        ("cancel", {}, Declined),
    ],
)
async def test_a_decision_says_what_it_means(
    decision: Verdict, payload: dict[str, Any], meaning: type[Any], router: Router, ann: Operator
) -> None:
    async with router.run(DESK) as run:
        refunds = await run.agent("REFUNDS")
        seen = [Confirmation("seen", "Did you see the photo?")]
        asking = asyncio.create_task(refunds.ask("Refund?", key="refund", choices=["yes", "no"], confirmations=seen))
        await ann.decide(await open_question(ann), decision, **payload)
        decided = await asking
        assert type(decided) is meaning
        assert meant(decided) == (meaning in (Approved, Answered, Rerouted))
        assert decided.decision is not None
        assert decided.decision.text == payload.get("text")
        if isinstance(decided, Declined):
            assert (decided.how, decided.text) == (decision, payload.get("text"))
            assert (decided.decision.choices, decided.decision.confirmations) == ([], {})
            assert not hasattr(decided, "fill")


def meant(decided: Decided) -> bool:
    """Whether it leaves a route. Type checkers see that no case is missing."""
    match decided:
        case Approved() | Answered() | Rerouted():
            return decided.route is not None
        case Declined() | Expired() | Withdrawn():
            return False
        case _:
            assert_never(decided)


async def test_many_ask_at_once(router: Router, ann: Operator) -> None:
    async with router.run(DESK) as run:
        agents = [await run.agent("REFUNDS", f"refunds-{n}") for n in range(5)]
        asking = [
            asyncio.create_task(agent.ask(f"Refund {n}?", key=f"refund-{n}", choices=[str(n)]))
            for n, agent in enumerate(agents)
        ]
        for n in reversed(range(5)):
            await ann.decide(await open_question(ann, f"Refund {n}?"), "approve", choices=[str(n)])
        assert [routed_by(await task).decision.choices for task in asking] == [["0"], ["1"], ["2"], ["3"], ["4"]]


async def test_fields_are_those_of_the_kind(router: Router) -> None:
    photo = {"type": "object", "required": ["url"], "properties": {"url": {"type": "string", "maxLength": 99}}}
    shop = Workflow("shop", kinds={"CLERK": Kind(fields=photo)})
    async with router.run(shop) as run:
        with pytest.raises(RouterError) as refused:
            await run.root.ask("Is it broken?", key="broken", fields={"link": "x"})
        assert refused.value.errors


async def test_messages_are_read_once(router: Router, ann: Operator) -> None:
    async with router.run(DESK) as run:
        refunds = await run.agent("REFUNDS")
        await ann.send(f"{run.id}/root/refunds", "Be quick.")
        assert await run.root.messages() == []
        (message,) = await refunds.messages()
        assert (message.text, message.sender) == ("Be quick.", "ann")
        assert await refunds.messages() == []


async def test_messages_outlive_the_worker_that_read_them(router: Router, ann: Operator) -> None:
    run = await killed(router.run(DESK, alias="t", lease=1.0))
    await ann.send(f"{run.id}/root", "Be quick.")
    first = await run.root.messages("first")
    assert [message.text for message in first] == ["Be quick."]
    await ann.send(f"{run.id}/root", "Or not.")
    async with again(router, run) as taken:
        assert await taken.root.messages("first") == first
        assert [message.text for message in await taken.root.messages("second")] == ["Or not."]
        assert await taken.root.messages() == []


async def test_a_model_may_be_asynchronous(router: Router, ann: Operator) -> None:
    async def model(schema: Any, messages: Sequence[Any]) -> str:
        await asyncio.sleep(0)
        return '{"refund": {"cents": 2}}'

    async with router.run(DESK) as run:
        asking = asyncio.create_task(asked(run))
        await ann.decide(await open_question(ann), "approve", choices=["yes"])
        assert await (await asking).fill(model) == RefundRequest(2)


async def test_a_decision_wakes_the_question_of_an_earlier_worker(router: Router, ann: Operator) -> None:
    run = await killed(router.run(DESK, alias="t", lease=1.0))
    asking = asyncio.create_task(asked(run))
    question = await open_question(ann)
    asking.cancel()
    await ann.decide(question, "approve", choices=["yes"])
    async with again(router, run) as taken:

        async def decided() -> list[str] | None:
            return (await taken.signals()).decided or None

        assert await eventually(decided) == ["refund"]
        assert (await asked(taken)).decision.choices == ["yes"]


async def test_a_question_that_says_what_an_answer_is_takes_nothing_else(router: Router, ann: Operator) -> None:
    async with router.run(DESK) as run:
        agent = await run.agent("REFUNDS")
        asking = asyncio.create_task(agent.ask("Refund?", key="refund", answer_form="yes_or_no"))
        question = await open_question(ann, "Refund?")
        assert question.answer_form == "yes_or_no"
        assert "respond" not in question.allowed_decisions
        with pytest.raises(RouterError, match="it does not take `respond`"):
            await ann.decide(question, "respond", text="perhaps")
        await ann.decide(question, "approve")
        assert isinstance(await asking, Approved)
        with pytest.raises(RouterError, match="answer_form"):
            await agent.ask("Which?", key="which", answer_form="one_of")
