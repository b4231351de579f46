"""A LangGraph graph whose `interrupt()` asks a person through Interrupt Router.

    python langgraph_refund.py ticket-17

It needs `pip install interrupt-router-adapters[langgraph] langgraph-checkpoint-sqlite` and no key: the model is a fake one.
It uses the server of IRQ_SERVER with the token of IRQ_TOKEN, or starts one of its own. Kill it at any moment and start it
again: the graph goes on from its checkpoint, the person is asked once, and it pays once.
"""

import json
import os
import sys
from typing import Any, TypedDict

from interrupt_router_adapters.langgraph_sync import invoke
from langchain_core.language_models import FakeListChatModel
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Interrupt, interrupt

from interrupt_router import Kind, NarrowedSchema, Workflow
from interrupt_router.sync import Routed, Router, Run

CENTS = {"type": "integer", "minimum": 1, "maximum": 100_000}
ROUTES = {
    "refund": {"type": "object", "required": ["cents"], "properties": {"cents": CENTS}},
    "legal": {
        "type": "object",
        "required": ["matter"],
        "properties": {"matter": {"type": "string", "maxLength": 2000}},
    },
}
DESK = Workflow("desk", kinds={"DESK": None, "REFUNDS": Kind("refund"), "LEGAL": Kind("legal")}, routes=ROUTES)
FAKE = {"refund": '{"refund": {"cents": 12000}}', "legal": '{"legal": {"matter": "The customer threatens to sue."}}'}
LEDGER = os.environ.get("DESK_LEDGER", "ledger.jsonl")


class State(TypedDict, total=False):
    ticket: str
    order: str
    answer: dict[str, Any] | None


def do(what: str, ticket: str) -> str:
    """Stands for a shop or a bank: each thing that happens is a line of the ledger."""
    with open(LEDGER, "a") as ledger:
        ledger.write(json.dumps([what, ticket]) + "\n")
    return what


def find_order(state: State) -> State:
    return {"order": do("find-order", state["ticket"])}


def review(state: State) -> State:
    return {"answer": interrupt({"question": f"Refund 120 € for {state['ticket']}?", "choices": ["yes", "no"]})}


def settle(state: State, runtime: Runtime[Run]) -> None:
    # A node runs again when the process dies in it. An effect doesn't.
    for field, request in (state["answer"] or {}).items():
        runtime.context.root.effect(field, do, f"{field} {request}", state["ticket"], repeatable=False)


def model(schema: NarrowedSchema, messages: Any) -> str:
    return str(FakeListChatModel(responses=[FAKE[schema.field]]).invoke([dict(each) for each in messages]).content)


def answer(asked: Interrupt, routed: Routed) -> dict[str, Any] | None:
    """What `interrupt()` returns: the request of the one route that the person left open, or None."""
    if routed.decision.decision == "reject" or "no" in routed.decision.choices:
        return None
    return {routed.route.field: routed.fill(model)}


ticket = sys.argv[1] if len(sys.argv) > 1 else "ticket-17"
with (
    Router() if "IRQ_SERVER" in os.environ else Router.local() as router,
    SqliteSaver.from_conn_string(os.environ.get("DESK_GRAPH", "graph.db")) as saver,
    router.run(DESK, alias=ticket, input=ticket, lease=float(os.environ.get("DESK_LEASE", "30"))) as run,
):
    if router.server:
        print(f"answer on {router.server.link}", flush=True)
    builder = StateGraph(State).add_sequence([find_order, review, settle])
    graph = builder.add_edge(START, "find_order").add_edge("settle", END).compile(checkpointer=saver)
    config = {"configurable": {"thread_id": ticket}}
    run.result = invoke(run, graph, {"ticket": ticket}, config, kinds={"review": "REFUNDS"}, answer=answer, context=run)
    print(f"{ticket}: {run.result['answer']}")
