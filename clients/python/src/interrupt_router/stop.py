"""Stops: how a person, a supervisor or the system ends the work of a run or of one agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import api
    from .view import Stop


class Reach:
    """Whom a stop concerns, and how hard it is."""

    if TYPE_CHECKING:
        type: api.StopTypeName
        mode: api.ModeName
        scope: api.ScopeName
        agent_id: str

    @property
    def concerns_agent_alone(self) -> bool:
        """Whether the run goes on without the agent."""
        return self.scope == "agent" and self.type in ("PRUNE", "STOP") and self.agent_id != "root"

    @property
    def is_immediate(self) -> bool:
        """Whether a step that is under way is cancelled."""
        return self.mode == "immediate"

    def concerns(self, agent_id: str) -> bool:
        """Whether an agent has to stop for it."""
        if not self.concerns_agent_alone:
            return True
        return agent_id == self.agent_id or agent_id.startswith(f"{self.agent_id}/")


class Stops:
    """The stops among all that has come."""

    if TYPE_CHECKING:
        stops: list[Stop]

    def stop_of(self, agent_id: str) -> Stop | None:
        """The hardest stop that concerns an agent."""
        concerning = [stop for stop in self.stops if stop.concerns(agent_id)]
        return max(concerning, key=lambda stop: stop.is_immediate, default=None)


class Stopped(Exception):
    """The run, or this agent, was told to stop. Let it pass: clean up, and do not go on.

    It is raised by the next call of an agent, and wakes a call that waits. It derives from `Exception`, so that
    ``except Exception`` in a library that cleans up and raises again works as usual. Code that swallows it gets it again
    from the next call. It is no `RouterError`: handling errors does not swallow stops.

    The run's context manager reports the stop to the server when the exception reaches it. An agent that is its own
    context manager (``async with run.agent("LEGAL") as legal``) ends there when the stop concerns it alone, and the
    run goes on.
    """

    def __init__(self, stop: Stop) -> None:
        what = f"agent {stop.agent_id}" if stop.concerns_agent_alone else "run"
        because = f": {stop.reason}" if stop.reason else ""
        super().__init__(f"{stop.type} of the {what}{because}")
        self.stop = stop
        """The stop."""


class Parked(Exception):
    """The run waits for people for longer than it is worth to keep it in memory. Let it pass, as with `Stopped`.

    `Router.work` gives the run back. A worker takes it again once its questions are decided, runs the handler from the
    beginning, and finds its effects and decisions under their keys.
    """

    def __init__(self, key: str) -> None:
        super().__init__(f"the run waits for the answer to `{key}`")
        self.key = key
        """The question that it waits for."""
