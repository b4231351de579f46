"""A customers' desk: six colleagues, and a ticket on its way from one to the next until something is done.

    python desk.py 17 170     works on tickets about these orders
    python desk.py            takes the tickets that no worker has, until Ctrl+C

It uses the server of IRQ_SERVER with the token of IRQ_TOKEN, or starts one of its own. Kill it, or the server, at any moment
and start it again: it goes on, asks nothing twice, and pays once. It is the desk of examples/desk, in Python.
"""

import asyncio
import itertools
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import aiohttp
from interrupt_router import (
    Agent,
    Answered,
    Approved,
    Decided,
    Declined,
    Expired,
    Limit,
    NarrowedSchema,
    Rerouted,
    Router,
    Run,
    RunFinished,
    Withdrawn,
    Workflow,
)

Text = Annotated[str, Limit(max_length=2000)]


@dataclass
class Inquiry:
    """The customer has to say more."""

    question: Text


@dataclass
class Check:
    """A colleague has to look at it again."""

    doubt: Text


@dataclass
class Refund:
    """The customer gets the money back."""

    words: Text


@dataclass
class Objection:
    """The company does not agree."""

    ground: Text


@dataclass
class Parcel:
    """The customer gets the order once more."""

    label: Text


@dataclass
class Note:
    """There is nothing to do."""

    text: Text


COLLEAGUES: dict[str, tuple[str, Any]] = {
    "ORCHESTRATOR": ("inquire", Inquiry),
    "REVIEW_AGENT": ("check", Check),
    "REFUNDS": ("refund", Refund),
    "LEGAL": ("object", Objection),
    "SHIPPING": ("send", Parcel),
    "ARCHIVE": ("file", Note),
}
KINDS = {request: kind for kind, (_, request) in COLLEAGUES.items()}
ROUTES = dict(COLLEAGUES.values())
DESK = Workflow("desk", kinds={kind: field for kind, (field, _) in COLLEAGUES.items()}, routes=ROUTES)
LARGE = 10_000  # cents; above this a person says yes before anything is paid back
LEASE = float(os.environ.get("DESK_LEASE", "30"))  # seconds after which another desk takes the tickets of a dead one
LEDGER = Path(os.environ.get("DESK_LEDGER", "ledger.txt"))  # stands for the bank
MODEL = os.environ.get("OPENAI_BASE_URL")  # any server that speaks as OpenAI's does: http://127.0.0.1:8080/v1


def cents_of(order: int) -> int:
    return order * 100


def payments() -> str:
    return LEDGER.read_text() if LEDGER.exists() else ""


async def is_paid_back(order: int) -> bool:
    await asyncio.sleep(1)  # the bank looks into its books: time enough for a supervisor
    return f" for order {order} (" in payments()


def pay_back(key: str, order: int, cents: int) -> str:
    with LEDGER.open("a") as ledger:
        ledger.write(f"the bank pays {cents} cents for order {order} ({key})\n")
    return f"paid back {cents} cents for order {order}"


def was_paid_back(key: str, order: int, cents: int) -> str | None:
    """Finds out whether it happened, where a desk died before it could say so."""
    return f"paid back {cents} cents for order {order}" if f"({key})\n" in payments() else None


async def model(schema: NarrowedSchema, messages: Sequence[Mapping[str, str]]) -> Any:
    if MODEL is None:  # a stand-in, so that this runs without a key: it repeats what it is told
        (only,) = fields(ROUTES[schema.field])
        return {schema.field: {only.name: messages[0]["content"][:2000]}}
    form = {"type": "json_schema", "json_schema": {"name": schema.name, "schema": schema.schema, "strict": True}}
    call = {"model": os.environ.get("OPENAI_MODEL", "gpt-5-mini"), "messages": list(messages), "response_format": form}
    key = {"Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', 'none')}"}
    session = aiohttp.ClientSession(headers=key, raise_for_status=True)
    async with session as http, http.post(f"{MODEL}/chat/completions", json=call) as reply:
        return (await reply.json())["choices"][0]["message"]["content"]


async def handle(run: Run) -> dict[str, list[str]]:
    order, step, unread = run.input["order"], Inquiry(run.input["wish"]), []
    cents = await run.root.effect("find-order", cents_of, order, repeatable=True)
    for station in itertools.count(1):
        kind = KINDS[type(step)]
        agent = await run.agent(kind, f"{kind.lower().replace('_', '-')}-{station}")
        step = await work(agent, f"station-{station}", step, order, cents)
        unread += await agent.messages(f"messages-{station}")  # read once, whatever dies
        await agent.report("completed")
        if isinstance(step, str):
            unread += await run.root.messages("messages")
            return {"lines": [step, *(message.text for message in unread)]}
    raise AssertionError


async def work(agent: Agent, key: str, request: Any, order: int, cents: int) -> Any:
    """What a colleague makes of a request: that of the next colleague, or what was done."""
    match request:
        case Inquiry(question) | Check(question):
            return await following(await agent.ask(question, key=key, answer_form="words"))
        case Refund(words):
            if await agent.effect(f"account-{key}", is_paid_back, order, repeatable=True):
                return "was paid back before"
            if cents > LARGE:
                proposal = f"Pay back {cents} cents? {words}"
                match await agent.ask(proposal, key=key, answer_form="yes_or_no", fields={"cents": cents}):
                    case Approved():
                        pass  # Only a yes pays. Why not is on the receipt, for a colleague to read.
                    case Rerouted() as elsewhere:
                        return await elsewhere.fill(model, dialect="openai")
                    case Answered(text=said) | Declined(text=said):
                        return f"not paid back: {said}" if said else "not paid back"
                    case Expired() | Withdrawn():
                        return "not paid back"
            return await agent.effect("pay-back", pay_back, agent.run.id, order, cents, lookup=was_paid_back)
        case Objection(ground):
            return f"objected: {ground}"
        case Parcel(label):
            return f"sent: {label}"
        case Note(text):
            return f"filed: {text}"


async def following(decided: Decided) -> Any:
    """The request of the next colleague, after an answer to a question that asks for one. A no closes the ticket."""
    match decided:
        case Approved() | Answered() | Rerouted():
            return await decided.fill(model, dialect="openai")
        case Declined() | Expired() | Withdrawn():
            return "closed without an answer"


async def main(orders: list[str]) -> None:
    async with Router() if "IRQ_SERVER" in os.environ else Router.local() as router:
        if router.server:
            print(f"Answer on {router.server.link}")
        if not orders:
            await router.work(DESK, handle, lease=LEASE)
        for order in orders:
            ticket = {"order": int(order), "wish": f"What was in order {order} is broken"}
            try:
                async with router.run(DESK, alias=f"order-{order}", input=ticket, lease=LEASE) as run:
                    run.result = await handle(run)
                print(f"order {order}: {run.result['lines'][0]}")
            except RunFinished as finished:
                print(f"order {order}: {finished.state} before")


asyncio.run(main(sys.argv[1:]))
