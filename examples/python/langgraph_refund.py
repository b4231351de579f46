"""A LangGraph graph whose `interrupt()` asks a person through Interrupt Router.

    python langgraph_refund.py ticket-17

It needs `pip install interrupt-router-adapters[langgraph] langgraph-checkpoint-sqlite`, and no key: the model is fake. It
uses the server of IRQ_SERVER with the token of IRQ_TOKEN, or starts its own. Kill it and start it again: the graph goes on
from its checkpoint, and asks and pays once. If it dies during the payment, see `lookup` in desk.py.
"""

import json
import os
import sys
from dataclasses import dataclass
from typing import Any, TypedDict

from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Interrupt, interrupt

from interrupt_router import NarrowedSchema, RunFinished, Workflow
from interrupt_router.sync import Approved, Decided, Rerouted, Router, Run
from interrupt_router_adapters.langgraph_sync import invoke

REFUND = {"type": "object", "required": ["cents"], "properties": {"cents": {"type": "integer", "minimum": 1}}}
LEGAL = {"type": "object", "required": ["matter"], "properties": {"matter": {"type": "string", "maxLength": 2000}}}
ROUTES = {"refund": REFUND, "legal": LEGAL}
DESK = Workflow("desk", kinds={"DESK": None, "REFUNDS": "refund", "LEGAL": "legal"}, routes=ROUTES)
FAKE = {"refund": '{"refund": {"cents": 12000}}', "legal": '{"legal": {"matter": "The customer threatens to sue."}}'}


class State(TypedDict):
    ticket: str
    answer: dict[str, Any] | None


@dataclass
class Context:
    run: Run


def do(what: str, ticket: str) -> None:
    """Stands for a shop or a bank: each thing that happens is a line of the ledger."""
    with open(os.environ.get("DESK_LEDGER", "ledger.jsonl"), "a") as ledger:
        ledger.write(json.dumps([what, ticket]) + "\n")


def find_order(state: State) -> None:
    do("find-order", state["ticket"])


def review(state: State) -> dict[str, Any]:
    return {"answer": interrupt({"question": f"Refund 120 € for {state['ticket']}?", "answer_form": "yes_or_no"})}


def settle(state: State, runtime: Runtime[Context]) -> None:
    for route, request in (state["answer"] or {}).items():
        # A node runs again when the process dies in it. A finished effect doesn't.
        runtime.context.run.root.effect(route, do, f"{route} {request}", state["ticket"])


def model(schema: NarrowedSchema, messages: Any) -> str:
    return str(FakeListChatModel(responses=[FAKE[schema.field]]).invoke([dict(each) for each in messages]).content)


def answer(_: Interrupt[Any], decided: Decided) -> dict[str, Any] | None:
    """What `interrupt()` returns: the request of the one route that the person left open, or None after a no."""
    match decided:
        case Approved() | Rerouted() if decided.route:
            return {decided.route.field: decided.fill(model)}
    return None


ticket, lease = sys.argv[1] if len(sys.argv) > 1 else "ticket-17", float(os.environ.get("DESK_LEASE", "30"))
builder = StateGraph(State, Context).add_node(find_order).add_node(review).add_node(settle)
builder.add_edge(START, "find_order").add_edge("find_order", "review").add_edge("review", "settle")
config: RunnableConfig = {"configurable": {"thread_id": ticket}}
kinds = {"review": "REFUNDS"}
database = SqliteSaver.from_conn_string(os.environ.get("DESK_GRAPH", "graph.db"))
with database as saver, Router() if "IRQ_SERVER" in os.environ else Router.local() as router:
    if router.server:
        print(f"answer on {router.server.link}", flush=True)
    try:
        with router.run(DESK, alias=ticket, input=ticket, lease=lease) as run:
            run.result = invoke(
                run, builder.compile(saver), {"ticket": ticket}, config, kinds=kinds, answer=answer, context=Context(run)
            )
            print(f"{ticket}: {run.result['answer']}")
    except RunFinished as finished:
        print(f"{ticket}: {finished.state} before, {finished.result}")
