"""Runs an example that hangs at a point where the test kills it: ``python hang.py POINT EXAMPLE ARGUMENTS``.

POINT is ``decided``, between the decision of a question and what the framework does with it; ``done``, after an effect
has happened and before the framework knows; or ``never``.
"""

from __future__ import annotations

import runpy
import sys
import threading
from typing import Any

from interrupt_router import agent


def hang_after(name: str, point: str) -> None:
    """Makes a method of agents say the point when it is done, and never return."""
    method = getattr(agent.Agent, name)

    async def hanging(*args: Any, **kwargs: Any) -> Any:
        await method(*args, **kwargs)
        print(point, flush=True)
        threading.Event().wait()

    setattr(agent.Agent, name, hanging)


point, *sys.argv = sys.argv[1:]
if point == "decided":
    hang_after("ask", point)
elif point == "done":
    hang_after("effect", point)
runpy.run_path(sys.argv[0], run_name="__main__")
