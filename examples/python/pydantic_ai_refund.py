"""An agent of Pydantic AI whose tool calls a person approves through Interrupt Router.

    python pydantic_ai_refund.py ticket-17

It needs `pip install interrupt-router-adapters[pydantic-ai]`, and no key: the model is fake. It uses the server of
IRQ_SERVER with the token of IRQ_TOKEN, or starts its own. Kill it and start it again: the agent goes on from the messages
that were kept, and asks and pays once. If it dies during the payment, see `lookup` in desk.py.
"""

import asyncio
import json
import os
import sys
import uuid
from typing import Annotated

from pydantic import BaseModel, Field
from pydantic_ai import Agent, DeferredToolRequests, RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from interrupt_router import Router, Run, RunFinished, Workflow
from interrupt_router_adapters.pydantic_ai import run_agent

LEDGER = os.environ.get("DESK_LEDGER", "ledger.jsonl")


class Refund(BaseModel):
    """Pays money back."""

    cents: Annotated[int, Field(ge=1, le=100_000)]


# The arguments of the tool are the request of its route, so the server checks them, and people can edit them.
DESK = Workflow("desk", kinds={"DESK": None, "REFUNDS": "refund"}, routes={"refund": Refund})


def respond(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """The fake model: it wants to pay, and then says what came of it."""
    returned = [part.content for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
    if returned:
        return ModelResponse(parts=[TextPart(f"Done: {returned[-1]}.")])
    return ModelResponse(parts=[ToolCallPart("refund", {"cents": 12_000}, tool_call_id=f"call-{uuid.uuid4()}")])


agent = Agent(FunctionModel(respond), deps_type=Run, output_type=[str, DeferredToolRequests])


def pay(cents: int, ticket: str) -> str:
    """Stands for a bank: each payment is a line of the ledger."""
    with open(LEDGER, "a") as ledger:
        ledger.write(json.dumps(["pay", ticket, cents]) + "\n")
    return f"paid {cents} cents"


@agent.tool(requires_approval=True)
async def refund(context: RunContext[Run], cents: int) -> str:
    """Pays money back."""
    # A tool is called again when the process dies before the history is kept. An effect isn't.
    run = context.deps
    return await run.root.effect(f"refund:{context.tool_call_id}", pay, cents, run.input)


async def main(ticket: str, lease: float) -> None:
    async with Router() if "IRQ_SERVER" in os.environ else Router.local() as router:
        if router.server:
            print(f"answer on {router.server.link}", flush=True)
        try:
            async with router.run(DESK, alias=ticket, input=ticket, lease=lease) as run:
                result = await run_agent(run, agent, f"Settle {ticket}.", kinds={"refund": "REFUNDS"}, deps=run)
                run.result = result.output
                print(f"{ticket}: {run.result}")
        except RunFinished as finished:
            print(f"{ticket}: {finished.state} before, {finished.result}")


asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "ticket-17", float(os.environ.get("DESK_LEASE", "30"))))
