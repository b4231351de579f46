"""What ends the work on a run from outside, also where libraries wrap it into errors of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from .errors import Forbidden, RateLimited, RouterError, Unauthenticated, Unavailable
from .stop import Parked, Stopped

Control: TypeAlias = Stopped | Parked | RouterError

# After these the worker cannot go on, and another one can: they say nothing about the run.
OF_THE_WORKER = (Unavailable, RateLimited, Unauthenticated, Forbidden)


def control_in(error: BaseException) -> Control | None:
    """What ended the work, if an error is that, holds it in a group, or was raised because of it or after it."""
    found = list(_within(error))
    first: tuple[tuple[type[Control], ...], ...] = ((Stopped,), (Parked,), OF_THE_WORKER)
    return next((each for kinds in first for each in found if isinstance(each, kinds)), None)


def _within(error: BaseException) -> Iterator[BaseException]:
    seen, waiting = set[int](), [error]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        # Groups of Python 3.10 come from a package.
        group = getattr(each, "exceptions", ())
        related = [*(group if isinstance(group, (tuple, list)) else ()), each.__cause__, each.__context__]
        waiting += [other for other in related if isinstance(other, BaseException)]
