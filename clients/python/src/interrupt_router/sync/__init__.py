"""The same client without ``async``: ``from interrupt_router.sync import Router, Operator``."""

from .operator import Feed, Operator
from .router import Router
from .run import Agent, Routed, Run

__all__ = ["Agent", "Feed", "Operator", "Routed", "Router", "Run"]
