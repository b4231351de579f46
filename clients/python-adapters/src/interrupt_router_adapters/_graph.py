"""The graph of both adapters of LangGraph, and how it is stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeAlias, TypeVar

from langgraph.pregel import Pregel
from langgraph.runtime import RunControl

from interrupt_router import Workflow

Graph: TypeAlias = Pregel[Any, Any, Any, Any]
R = TypeVar("R")
A = TypeVar("A")


class GraphOfRouter(Generic[R, A]):
    """A compiled graph that runs in runs of a router."""

    def __init__(
        self,
        graph: Graph,
        router: R,
        workflow: Workflow,
        *,
        kinds: Mapping[str, str] | None = None,
        answer: A | None = None,
        lease: float = 30.0,
    ) -> None:
        self.graph = graph
        self._router = router
        self._workflow = workflow
        self._options: dict[str, Any] = {"kinds": kinds, "answer": answer}
        self._lease = lease


class Control(RunControl):
    """Tells the graph at each superstep boundary whether the run stops."""

    __slots__ = ("_stops",)

    def __init__(self, stops: Callable[[], bool]) -> None:
        super().__init__()
        self._stops = stops

    @property
    def drain_requested(self) -> bool:
        return self._stops()
