"""Results that the server keeps, as JSON."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Awaitable, Callable
from typing import Any

from .errors import Invalid

UNKEPT = "$unkept"
"""The one member of what is kept in place of a result that cannot be; it says what that was, in every language."""

_shown = reprlib.Repr()
_shown.maxstring = _shown.maxother = _shown.maxlong = 200


class Unkeepable(Exception):
    """A result is no JSON that the server takes."""

    def __init__(self, result: Any, why: object) -> None:
        shown = f"{why}: {_shown.repr(result)}"[:500]
        super().__init__(shown.encode(errors="backslashreplace").decode())


async def keep(result: Any, send: Callable[[Any], Awaitable[object]]) -> Any:
    """Sends a result; returns it as a later worker reads it: a tuple is a list for both. Raises `Unkeepable`."""
    try:
        kept = json.loads(json.dumps(result, allow_nan=False))
        await send(kept)
    except (TypeError, ValueError, RecursionError) as error:
        raise Unkeepable(result, error) from error
    except Invalid as refused:
        raise Unkeepable(result, refused.detail) from refused
    return kept


def unkept(result: Any) -> str | None:
    """What could not be kept, if that is what was kept."""
    what = result.get(UNKEPT) if isinstance(result, dict) and len(result) == 1 else None
    return what if isinstance(what, str) else None
