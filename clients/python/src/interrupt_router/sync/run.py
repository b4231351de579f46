"""A run that this worker owns, its agents and their answers, without ``async``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..agent import Agent as AsyncAgent, Lookup, OpeningAgent
from ..run import Run as AsyncRun
from .decided import waiting
from .facade import Facade, Shown, blocking, showing, wrapping
from .portal import Portal

T = TypeVar("T")


def _opened(opening: OpeningAgent, portal: Portal) -> Agent:
    return Agent(portal.call(opening.__aenter__()), portal)


class Agent(Facade[AsyncAgent]):
    """An agent of a run; see `interrupt_router.Agent`. As a context manager it ends with the block."""

    withdraw = blocking(AsyncAgent.withdraw)
    messages = blocking(AsyncAgent.messages)
    interrupt_request = blocking(AsyncAgent.interrupt_request)
    report = blocking(AsyncAgent.report)
    ask = wrapping(AsyncAgent.ask, waiting)
    agent = showing(AsyncAgent.agent, _opened)

    id = Shown[str]()
    """Its id."""
    kind = Shown[str]()
    """Its kind."""

    def check(self) -> None:
        """Raises `Stopped` where the agent was told to stop, and `LeaseLost` where another worker has the run."""

        async def check() -> None:
            self._inner.check()

        self._portal.call(check())

    def effect(
        self, key: str, function: Callable[..., T], *args: Any, repeatable: bool = False, lookup: Lookup = None
    ) -> T:
        """Calls a function once, whatever crashes, in this thread; see `interrupt_router.Agent.effect`."""
        return self._portal.call(self._inner.effect(key, function, *args, repeatable=repeatable, lookup=lookup))

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        return self._portal.call(OpeningAgent(self._inner).__aexit__(kind, error, trace))


class Run(Facade[AsyncRun]):
    """A run that this worker owns; see `interrupt_router.Run`."""

    signals = blocking(AsyncRun.signals)
    interrupted = blocking(AsyncRun.interrupted)
    checkpoint = blocking(AsyncRun.checkpoint)
    last_checkpoint = blocking(AsyncRun.last_checkpoint)
    has_asked = blocking(AsyncRun.has_asked)
    cancel = blocking(AsyncRun.cancel)
    end = blocking(AsyncRun.end)
    agent = showing(AsyncRun.agent, _opened)

    id = Shown[str]()
    """Its id."""
    alias = Shown[str | None]()
    """Your name for it."""
    input = Shown[Any]()
    """What it works on."""

    @property
    def result(self) -> Any:
        """What comes of it. Set it before the block ends."""
        return self._inner.result

    @result.setter
    def result(self, result: Any) -> None:
        self._inner.result = result

    @property
    def root(self) -> Agent:
        """Its own agent, of the workflow's first kind."""
        return Agent(self._inner.root, self._portal)
