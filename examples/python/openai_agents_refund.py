"""An agent of the OpenAI Agents SDK whose tool calls a person approves through Interrupt Router.

    python openai_agents_refund.py ticket-17

It needs `pip install interrupt-router-adapters[openai-agents]`, and no key: the model is fake. It uses the server of
IRQ_SERVER with the token of IRQ_TOKEN, or starts its own. Kill it and start it again: the agent goes on from the `RunState`
that was kept, and asks and pays once. If it dies during the payment, see `lookup` in desk.py.
"""

import asyncio
import json
import os
import sys
import uuid

from agents import Agent, function_tool, set_tracing_disabled
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call
from agents.tool_context import ToolContext

from interrupt_router import Kind, Router, Run, RunFinished, Workflow
from interrupt_router_adapters.openai_agents import run_agent

CENTS = {"type": "integer", "minimum": 1, "maximum": 100_000}
REFUND = {"type": "object", "required": ["cents"], "properties": {"cents": CENTS}}
# The arguments of the tool are the request of its route, so the server checks them before the tool is called.
DESK = Workflow("desk", kinds={"DESK": None, "REFUNDS": Kind("refund")}, routes={"refund": REFUND})
LEDGER = os.environ.get("DESK_LEDGER", "ledger.jsonl")


def pay(cents: int, ticket: str) -> str:
    """Stands for a bank: each payment is a line of the ledger."""
    with open(LEDGER, "a") as ledger:
        ledger.write(json.dumps(["pay", ticket, cents]) + "\n")
    return f"paid {cents} cents"


@function_tool(needs_approval=True)
async def refund(context: ToolContext[Run], cents: int) -> str:
    """Pays money back."""
    # A tool is called again when the process dies before the agent's next state is kept. An effect isn't.
    run = context.context
    return await run.root.effect(f"refund:{context.tool_call_id}", pay, cents, run.input)


def respond(call: ModelCall) -> ModelStep:
    """The fake model: it wants to pay, and then says what came of it."""
    results = [item["output"] for item in call.input if item.get("type") == "function_call_output"]
    if results:
        return ModelStep(output=[assistant_message(f"Done: {results[-1]}.")])
    return ModelStep(output=[function_call("refund", {"cents": 12_000}, call_id=f"call-{uuid.uuid4()}")])


async def main(ticket: str, lease: float) -> None:
    set_tracing_disabled(True)
    model = ScriptedModel([ModelStep.respond(respond)] * 10)
    agent = Agent(name="desk", model=model, tools=[refund])
    async with Router() if "IRQ_SERVER" in os.environ else Router.local() as router:
        if router.server:
            print(f"answer on {router.server.link}", flush=True)
        try:
            async with router.run(DESK, alias=ticket, input=ticket, lease=lease) as run:
                result = await run_agent(run, agent, f"Settle {ticket}.", kinds={"refund": "REFUNDS"}, context=run)
                run.result = result.final_output
                print(f"{ticket}: {run.result}")
        except RunFinished as finished:
            print(f"{ticket}: {finished.state} before, {finished.result}")


asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "ticket-17", float(os.environ.get("DESK_LEASE", "30"))))
