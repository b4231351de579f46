"""Ten lines that take the questions of a LangGraph agent to people, and bring back where it may go.

    pip install "interrupt-router-adapters[langgraph]" langgraph-checkpoint-sqlite
    OPENAI_API_KEY=... python ten_lines.py

Kill it at any moment and start it again: the question is still there, once. If a node may not run twice when it dies
halfway, see `effect` in langgraph_refund.py.
"""

from refund_agent import Legal, Refund, graph, model

from interrupt_router import Workflow, sync
from interrupt_router_adapters.langgraph_sync import RoutedGraph

DESK = Workflow("desk", kinds={"REFUNDS": "refund", "LEGAL": "legal"}, routes={"refund": Refund, "legal": Legal})


def answer(_: object, decided: sync.Decided) -> object:
    return decided.fill(model, dialect="openai") if isinstance(decided, sync.Approved | sync.Rerouted) else None


with sync.Router.local() as router:
    print("Answer on", router.server and router.server.link, flush=True)
    desk = RoutedGraph(graph, router, DESK, answer=answer, lease=5)
    print(desk.invoke({"order": 17}, {"configurable": {"thread_id": "order-17"}}))
