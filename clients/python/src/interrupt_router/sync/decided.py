"""What a decision means to the code that asked, without ``async``; see `interrupt_router.Decided`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, final

from .. import decided
from ..decided import Declined, Expired, Withdrawn
from ..view import Decision, TakenRoute
from .facade import Facade, Shown, blocking
from .portal import Portal


class Routed(Facade[decided.Routed]):
    """A decision that leaves one route; see `interrupt_router.Routed`."""

    schema = blocking(decided.Routed.schema)
    submit = blocking(decided.Routed.submit)
    fill = blocking(decided.Routed.fill)

    key = Shown[str]()
    """The question's key."""
    decision = Shown[Decision]()
    """What was decided, and by whom."""
    route = Shown[TakenRoute | None]()
    """The one route that the answer takes."""
    request = Shown[Any]()
    """The request, as the type of the route; None until it is filled in."""
    text = Shown[str | None]()
    """What the person wrote."""


@final
class Approved(Routed):
    """Do it; see `interrupt_router.Approved`."""

    decided_as: Literal["approved"] = "approved"


@final
class Answered(Routed):
    """Read what was said before anything is done; see `interrupt_router.Answered`."""

    decided_as: Literal["answered"] = "answered"

    choices = Shown[tuple[str, ...]]()
    """The values that were chosen."""
    confirmations = Shown[Mapping[str, bool]]()
    """What was confirmed and what was not, by the confirmation's id."""


@final
class Rerouted(Routed):
    """Do not do what was asked about; see `interrupt_router.Rerouted`."""

    decided_as: Literal["rerouted"] = "rerouted"


Decided: TypeAlias = Approved | Answered | Rerouted | Declined | Expired | Withdrawn
"""What became of a question; see `interrupt_router.Decided`."""


def waiting(made: decided.Decided, portal: Portal) -> Decided:
    """The same, with methods that wait."""
    match made:
        case decided.Approved():
            return Approved(made, portal)
        case decided.Answered():
            return Answered(made, portal)
        case decided.Rerouted():
            return Rerouted(made, portal)
        case _:
            return made
