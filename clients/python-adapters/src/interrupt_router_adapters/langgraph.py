"""LangGraph: `interrupt()` asks a person through the router, and the decision resumes the graph.

This is the asynchronous adapter. `interrupt_router_adapters.langgraph_sync` has the same without ``async``.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained
from langgraph.types import Command, Interrupt, StateSnapshot

from interrupt_router import Decided, Router, Run, RunFinished

from ._graph import Control, Graph, GraphOfRouter
from ._interrupts import default_answer, is_new, question_key, question_of, questions, with_run
from ._questions import agent_for, is_stopping, to_json, together
from ._shown import Shown

__all__ = ["Answer", "RoutedGraph", "ainvoke", "default_answer", "question_of"]

Answer: TypeAlias = Callable[[Interrupt[Any], Decided], Any | Awaitable[Any]]
"""Turns a decision into what `interrupt()` returns in the node. It may be asynchronous."""


async def ainvoke(
    run: Run,
    graph: Graph,
    input: Any,  # noqa: A002 - the word of LangGraph
    config: RunnableConfig,
    *,
    kinds: Mapping[str, str] | None = None,
    answer: Answer | None = None,
    **options: Any,
) -> Any:
    """`graph.ainvoke` that runs to the end: the router's decisions resume the graph.

    Call it again after a crash with the same run and config: it goes on where the graph's checkpoint is. `kinds` maps
    nodes to the kinds of agents that ask for them; other nodes ask as the run's own agent. `answer` turns a decision
    into the value that `interrupt()` returns, by default `default_answer`. A stop ends the graph at its next superstep
    boundary; one with the mode ``immediate`` cancels the nodes that run.
    """
    config = with_run(config, run.id)
    options = {"durability": "sync", **options, "control": Control(lambda: is_stopping(run))}
    state, shown = await graph.aget_state(config), Shown()
    if is_new(state, run.id):
        step = input
    elif all([await run.has_asked(question_key(config, interrupt)) for _, interrupt in questions(state)]):
        step = await _next(run, state, config, kinds or {}, answer, shown)
    else:
        step = None  # the nodes that ask run again, so that it is seen how they do
    while True:
        try:
            with shown.watching(config) as watched:
                calling = graph.ainvoke(step, watched, **options)
                result = await run.watch.guard(run.root.id, calling, immediate_only=True)
        except GraphDrained:
            run.root.check()
            raise
        state = await graph.aget_state(config)
        if not state.interrupts:
            return result
        step = await _next(run, state, config, kinds or {}, answer, shown)


class RoutedGraph(GraphOfRouter[Router, Answer]):
    """A compiled graph whose `ainvoke` owns a run of the router. The thread's id is the run's alias::

    graph = RoutedGraph(builder.compile(checkpointer=saver), router, workflow)
    await graph.ainvoke({"order": 17}, {"configurable": {"thread_id": "ticket-17"}})
    """

    async def ainvoke(
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
            async with owned as run:
                result = await ainvoke(run, self.graph, input, config, **self._options, **options)
                run.result = to_json(result)
                return result
        except RunFinished as finished:
            if finished.state != "completed":
                raise
            # A finished graph does nothing when it is invoked without an input, and returns its output.
            return await self.graph.ainvoke(None, config, **options)


async def _next(
    run: Run, state: StateSnapshot, config: RunnableConfig, kinds: Mapping[str, str], answer: Answer | None, shown: Shown
) -> Command[Any] | None:
    """What the graph goes on with: the answers to its interrupts, or nothing where it was stopped between two nodes."""

    async def ask(node: str, interrupt: Interrupt[Any]) -> Any:
        shown.add(interrupt)
        agent = await agent_for(run, node, kinds)
        decided = await agent.ask(key=question_key(config, interrupt), **question_of(interrupt))
        value = (answer or default_answer)(interrupt, decided)
        return await value if inspect.isawaitable(value) else value

    waiting = questions(state)
    if not waiting:
        return None
    answers = await together(ask(node, interrupt) for node, interrupt in waiting)
    return Command(resume={it.id: value for (_, it), value in zip(waiting, answers, strict=True)})
