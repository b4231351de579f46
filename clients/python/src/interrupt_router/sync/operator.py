"""The people's side, without ``async``."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType

from .. import feed, operator
from ..transport import DEADLINE
from .facade import Facade, Shown, blocking, each, iterating
from .portal import open_portal


class Feed(Facade[feed.Feed]):
    """Events, as they happen; see `interrupt_router.Feed`."""

    cursor = Shown[str | None]("cursor")
    """The position that was read last."""

    def __iter__(self) -> Iterator[feed.Event]:
        return each(self._portal, self._inner.__aiter__())


class Operator(Facade[operator.Operator]):
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

    def __init__(self, base_url: str | None = None, token: str | None = None, *, deadline: float = DEADLINE) -> None:
        super().__init__(operator.Operator(base_url, token, deadline=deadline))

    def __enter__(self) -> Operator:
        self._opened = open_portal(self._inner)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._portal.call(self._inner.__aexit__(kind, error, trace))
        self._portal.close()

    def events(
        self,
        topics: str | None = None,
        *,
        run_id: str | None = None,
        agent_id: str | None = None,
        after: str | None = None,
    ) -> Feed:
        """The feed, after a position or from now on."""
        followed = self._inner.events(topics, run_id=run_id, agent_id=agent_id, after=after)
        return Feed(followed, self._portal)
