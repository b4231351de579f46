"""Binds each answer to what was shown. LangGraph hands answers out in the order in which a node asks, whoever asks."""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph.pregel import _algo
from langgraph.types import Interrupt, _interrupt_id

from interrupt_router import RouterError

from ._interrupts import Concurrent
from ._questions import to_json

_current: ContextVar[Shown | None] = ContextVar("shown", default=None)


class Shown:
    """What people were shown, by the ids of interrupts, while a graph runs."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._refusal: RouterError | None = None

    def add(self, interrupt: Interrupt[Any]) -> None:
        """A person is asked about it."""
        self._values[interrupt.id] = to_json(interrupt.value)

    @contextmanager
    def watching(self, config: RunnableConfig) -> Iterator[RunnableConfig]:
        """A call of the graph. Raises where an answer could reach, or would have reached, another question."""
        concurrent, token = Concurrent(), _current.set(self)
        try:
            yield merge_configs(config, {"callbacks": [concurrent]})
        finally:
            _current.reset(token)
            if self._refusal is not None:
                raise self._refusal
        concurrent.check()

    def asks(self, interrupt_id: str, value: Any, *, answered: int, number: int) -> None:
        """A node asks, as its question of this number; so many are answered. Raises where that cannot be told apart."""
        shown = to_json(value)
        # Code that asks one thing after the other ends at the first question that has no answer.
        if number > answered or self._values.get(interrupt_id, shown) != shown:
            self._refusal = RouterError(
                f"a node asks {shown!r} beside or instead of another question, and LangGraph would give the answer to "
                "whichever comes first",
                hint="send each call that asks to the node with a `Send` of its own, and ask the same each time it runs",
            )
            raise self._refusal


def _bound(scratchpad: Any) -> Any:
    """LangGraph makes one for each task, and `interrupt` counts its questions there. Its version is pinned."""

    @functools.wraps(scratchpad)
    def made(parent: Any, writes: Any, task_id: str, namespace: str, *rest: Any, **more: Any) -> Any:
        pad, shown = scratchpad(parent, writes, task_id, namespace, *rest, **more), _current.get()
        if shown is None:
            return pad

        def count() -> int:
            number: int = pad.interrupt_counter()
            value = sys._getframe(1).f_locals["value"]  # of `interrupt`
            shown.asks(_interrupt_id(namespace, number), value, answered=len(pad.resume), number=number)
            return number

        return dataclasses.replace(pad, interrupt_counter=count)

    return made


_algo._scratchpad = _bound(_algo._scratchpad)
