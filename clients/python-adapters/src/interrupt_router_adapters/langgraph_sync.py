"""LangGraph without ``async``, for `interrupt_router.sync`; see `interrupt_router_adapters.langgraph`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained
from langgraph.types import Command, Interrupt, StateSnapshot

from interrupt_router import RunFinished
from interrupt_router.sync import Agent, Decided, Router, Run

from ._graph import Control, Graph, GraphOfRouter
from ._interrupts import default_answer, is_new, question_key, question_of, questions, with_run
from ._questions import to_json
from ._shown import Shown

__all__ = ["Answer", "RoutedGraph", "default_answer", "invoke", "question_of"]

Answer: TypeAlias = Callable[[Interrupt[Any], Decided], Any]
"""Turns a decision into what `interrupt()` returns in the node."""


def invoke(
    run: Run,
    graph: Graph,
    input: Any,  # noqa: A002 - the word of LangGraph
    config: RunnableConfig,
    *,
    kinds: Mapping[str, str] | None = None,
    answer: Answer | None = None,
    **options: Any,
) -> Any:
    """`graph.invoke` that runs to the end: the router's decisions resume the graph.

    The parameters are those of `interrupt_router_adapters.langgraph.ainvoke`. Every stop ends the graph at its next
    superstep boundary, also one with the mode ``immediate``: a thread can't be cancelled.
    """
    config = with_run(config, run.id)
    options = {"durability": "sync", **options, "control": Control(run.interrupted)}
    state, shown = graph.get_state(config), Shown()
    if is_new(state, run.id):
        step = input
    elif all(run.has_asked(question_key(config, interrupt)) for _, interrupt in questions(state)):
        step = _next(run, state, config, kinds or {}, answer, shown)
    else:
        step = None  # the nodes that ask run again, so that it is seen how they do
    while True:
        try:
            with shown.watching(config) as watched:
                result = graph.invoke(step, watched, **options)
        except GraphDrained:
            run.root.check()
            raise
        state = graph.get_state(config)
        if not state.interrupts:
            return result
        step = _next(run, state, config, kinds or {}, answer, shown)


class RoutedGraph(GraphOfRouter[Router, Answer]):
    """A compiled graph whose `invoke` owns a run of the router. The thread's id is the run's alias::

    graph = RoutedGraph(builder.compile(checkpointer=saver), router, workflow)
    graph.invoke({"order": 17}, {"configurable": {"thread_id": "ticket-17"}})
    """

    def invoke(
        self,
        input: Any,  # noqa: A002 - the word of LangGraph
        config: RunnableConfig,
        *,
        alias: str | None = None,
        **options: Any,
    ) -> Any:
        """Runs the graph to its end. Give each further input of the same thread an `alias` of its own."""
        alias = alias or str(config["configurable"]["thread_id"])
        owned = self._router.run(self._workflow, alias=alias, input=to_json(input), lease=self._lease)
        try:
            with owned as run:
                result = invoke(run, self.graph, input, config, **self._options, **options)
                run.result = to_json(result)
                return result
        except RunFinished as finished:
            if finished.state != "completed":
                raise
            # A finished graph does nothing when it is invoked without an input, and returns its output.
            return self.graph.invoke(None, config, **options)


def _next(
    run: Run, state: StateSnapshot, config: RunnableConfig, kinds: Mapping[str, str], answer: Answer | None, shown: Shown
) -> Command[Any] | None:
    """What the graph goes on with: the answers to its interrupts, or nothing where it was stopped between two nodes."""
    waiting = questions(state)
    if not waiting:
        return None

    def ask(asked: tuple[Agent, Interrupt[Any]]) -> Decided:
        agent, interrupt = asked
        shown.add(interrupt)
        return agent.ask(key=question_key(config, interrupt), **question_of(interrupt))

    agents = [run.agent(kinds[node]) if node in kinds else run.root for node, _ in waiting]
    interrupts = [interrupt for _, interrupt in waiting]
    with ThreadPoolExecutor(len(waiting)) as threads:
        decided = list(threads.map(ask, zip(agents, interrupts, strict=True)))
    turn = answer or default_answer
    return Command(resume={it.id: turn(it, each) for it, each in zip(interrupts, decided, strict=True)})
