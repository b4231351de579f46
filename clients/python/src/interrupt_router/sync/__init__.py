"""The same client without ``async``: ``from interrupt_router.sync import Router, Operator``."""

from ..decided import Declined, Expired, Withdrawn
from .decided import Answered, Approved, Decided, Rerouted, Routed
from .operator import Feed, Operator
from .router import Router
from .run import Agent, Run

__all__ = [
    "Agent",
    "Answered",
    "Approved",
    "Decided",
    "Declined",
    "Expired",
    "Feed",
    "Operator",
    "Rerouted",
    "Routed",
    "Router",
    "Run",
    "Withdrawn",
]
