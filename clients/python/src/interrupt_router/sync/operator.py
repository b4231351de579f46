"""The people's side, without ``async``."""

from __future__ import annotations

from collections.abc import Iterator

from .. import feed, operator
from ..transport import DEADLINE
from .facade import Client, Facade, Shown, blocking, each, iterating, showing


class Feed(Facade[feed.Feed]):
    """Events, as they happen; see `interrupt_router.Feed`."""

    cursor = Shown[str | None]()
    """The position that was read last."""

    def __iter__(self) -> Iterator[feed.Event]:
        return each(self._inner.__aiter__(), self._portal)


class Operator(Client[operator.Operator]):
    """A server, as people use it; see `interrupt_router.Operator`. Open it with ``with``."""

    whoami = blocking(operator.Operator.whoami)
    interrupts = iterating(operator.Operator.interrupts)
    interrupt = blocking(operator.Operator.interrupt)
    claim = blocking(operator.Operator.claim)
    release = blocking(operator.Operator.release)
    decide = blocking(operator.Operator.decide)
    withdraw = blocking(operator.Operator.withdraw)
    request_interrupt = blocking(operator.Operator.request_interrupt)
    interrupt_request = blocking(operator.Operator.interrupt_request)
    runs = iterating(operator.Operator.runs)
    run = blocking(operator.Operator.run)
    agents = iterating(operator.Operator.agents)
    agent = blocking(operator.Operator.agent)
    stop = blocking(operator.Operator.stop)
    cancel = blocking(operator.Operator.cancel)
    resume = blocking(operator.Operator.resume)
    send = blocking(operator.Operator.send)
    events = showing(operator.Operator.events, Feed)

    def __init__(self, base_url: str | None = None, token: str | None = None, *, deadline: float = DEADLINE) -> None:
        super().__init__(operator.Operator(base_url, token, deadline=deadline))
