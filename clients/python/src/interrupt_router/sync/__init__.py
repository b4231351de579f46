"""The same client without ``async``: ``from interrupt_router.sync import Router, Operator``."""

from ..decided import Declined as Declined, Expired as Expired, Withdrawn as Withdrawn
from .decided import (
    Answered as Answered,
    Approved as Approved,
    Decided as Decided,
    Rerouted as Rerouted,
    Routed as Routed,
)
from .operator import Feed as Feed, Operator as Operator
from .router import Router as Router
from .run import Agent as Agent, Run as Run
