"""A run that this worker owns, its agents and their answers, without ``async``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .. import agent, run
from .decided import waiting
from .facade import Facade, Shown, blocking, wrapping

T = TypeVar("T")


class Agent(Facade[agent.Agent]):
    """An agent of a run; see `interrupt_router.Agent`. As a context manager it ends with the block."""

    withdraw = blocking(agent.Agent.withdraw)
    messages = blocking(agent.Agent.messages)
    interrupt_request = blocking(agent.Agent.interrupt_request)
    report = blocking(agent.Agent.report)
    ask = wrapping(agent.Agent.ask, waiting)

    id = Shown[str]("id")
    """Its id."""
    kind = Shown[str]("kind")
    """Its kind."""

    def check(self) -> None:
        """Raises `Stopped` where the agent was told to stop, and `LeaseLost` where another worker has the run."""

        async def check() -> None:
            self._inner.check()

        self._portal.call(check())

    def agent(self, kind: str, name: str | None = None) -> Agent:
        """Starts an agent below this one."""
        return _opened(self._inner.agent(kind, name), self)

    def effect(
        self,
        key: str,
        function: Callable[..., T],
        *args: Any,
        repeatable: bool = False,
        lookup: Callable[..., Any] | None = None,
    ) -> T:
        """Calls a function once, whatever crashes, in this thread; see `interrupt_router.Agent.effect`."""
        return self._portal.call(self._inner.effect(key, function, *args, repeatable=repeatable, lookup=lookup))

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        return self._portal.call(agent.OpeningAgent(self._inner).__aexit__(kind, error, trace))


class Run(Facade[run.Run]):
    """A run that this worker owns; see `interrupt_router.Run`."""

    signals = blocking(run.Run.signals)
    interrupted = blocking(run.Run.interrupted)
    checkpoint = blocking(run.Run.checkpoint)
    last_checkpoint = blocking(run.Run.last_checkpoint)
    has_asked = blocking(run.Run.has_asked)
    cancel = blocking(run.Run.cancel)
    end = blocking(run.Run.end)

    id = Shown[str]("id")
    """Its id."""
    alias = Shown[str | None]("alias")
    """Your name for it."""
    input = Shown[Any]("input")
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

    def agent(self, kind: str, name: str | None = None) -> Agent:
        """Starts an agent below ``root``, called like its kind unless `name` says otherwise."""
        return self.root.agent(kind, name)


def _opened(opening: agent.OpeningAgent, parent: Agent) -> Agent:
    return Agent(parent._portal.call(opening.__aenter__()), parent._portal)
