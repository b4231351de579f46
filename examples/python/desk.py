"""A support desk: looks up an order, asks a person, and pays or calls the lawyers.

    python desk.py ticket-17 ticket-18     works on these tickets
    python desk.py                         takes the tickets that no worker has, until Ctrl+C

It uses the server of IRQ_SERVER with the token of IRQ_TOKEN, or starts one of its own. Kill it, or the server, at any moment
and start it again: it goes on, asks nothing twice, and pays once.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from interrupt_router import Limit, NarrowedSchema, Router, Run, RunFinished, Workflow


@dataclass
class RefundRequest:
    """Pays money back."""

    cents: Annotated[int, Limit(ge=1, le=100_000)]


@dataclass
class LegalRequest:
    """Hands the ticket to the lawyers."""

    matter: Annotated[str, Limit(max_length=2000)]


DESK = Workflow(
    "desk",
    kinds={"ORCHESTRATOR": None, "REFUNDS": "refund", "LEGAL": "legal"},
    routes={"refund": RefundRequest, "legal": LegalRequest},
)
LEASE = float(os.environ.get("DESK_LEASE", "30"))  # seconds after which another desk takes the tickets of a dead one
LEDGER = Path(os.environ.get("DESK_LEDGER", "ledger.jsonl"))  # stands for a shop, a bank and a law firm


def do(*what: Any) -> list[Any]:
    with LEDGER.open("a") as ledger:
        ledger.write(json.dumps(what) + "\n")
    return list(what)


def look_up(*what: Any) -> list[Any] | None:
    """Finds out whether it happened, where a desk died before it could say so."""
    known = LEDGER.read_text().splitlines() if LEDGER.exists() else []
    return list(what) if json.dumps(what) in known else None


def model(schema: NarrowedSchema, messages: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """A stand-in for a language model, so that this runs without a key: it is a function that always says the same."""
    return {schema.field: {"cents": 12_000} if schema.field == "refund" else {"matter": messages[0]["content"]}}


async def handle(run: Run) -> dict[str, int]:
    ticket = run.input["ticket"]
    await run.root.effect("find-order", do, "find-order", ticket, lookup=look_up)
    async with run.agent("REFUNDS") as refunds:
        routed = await refunds.ask(f"Refund 120 € for {ticket}?", key="refund", choices=["yes", "no"])
        if "no" in routed.decision.choices or routed.decision.decision == "reject":
            return {"paid": 0}
        request = await routed.fill(model)
    if isinstance(request, RefundRequest):
        await run.root.effect("pay", do, "pay", ticket, request.cents, lookup=look_up)
        return {"paid": request.cents}
    async with run.agent("LEGAL") as legal:
        await legal.effect("call-lawyers", do, "call-lawyers", ticket, request.matter, lookup=look_up)
    return {"paid": 0}


async def main(tickets: list[str]) -> None:
    async with Router() if "IRQ_SERVER" in os.environ else Router.local() as router:
        if router.server:
            print(f"Answer on {router.server.link}")
        if not tickets:
            await router.work(DESK, handle, lease=LEASE)
        for ticket in tickets:
            try:
                async with router.run(DESK, alias=ticket, input={"ticket": ticket}, lease=LEASE) as run:
                    run.result = await handle(run)
                print(f"{ticket}: {run.result}")
            except RunFinished as finished:
                print(f"{ticket}: {finished.state} before")


asyncio.run(main(sys.argv[1:]))
