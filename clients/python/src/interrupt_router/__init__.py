"""Python client of Interrupt Router: agents that people can stop, question and reroute.

`Router` and `Workflow` are the worker's side, `Operator` is the people's. `interrupt_router.sync` has the same without
``async``.
"""

from .agent import Agent
from .decided import (
    Answered,
    Approved,
    Decided,
    Declined,
    Expired,
    NarrowedSchema,
    Rerouted,
    Routed,
    Withdrawn,
)
from .errors import (
    AlreadyExpired,
    AlreadyResolved,
    AnswerRejected,
    BinaryNotFound,
    Claimed,
    Conflict,
    DecisionNotAllowed,
    EffectUnkept,
    EffectUnknown,
    FieldError,
    Forbidden,
    Held,
    IdempotencyConflict,
    Invalid,
    InvalidSchema,
    LeaseLost,
    NameTaken,
    NotFound,
    RateLimited,
    RouteNotAllowed,
    RouterError,
    RunFinished,
    RunOwned,
    RunPaused,
    ServerFailed,
    StaleVersion,
    Unauthenticated,
    Unavailable,
    Unfilled,
)
from .feed import Event, Feed
from .operator import Operator
from .ownership import Ownership
from .question import Choice, Confirmation, Decision, TakenRoute
from .router import Router
from .run import Checkpoint, Run
from .schema import Limit
from .signals import InterruptRequest, Message, Signals
from .stop import Parked, Stop, Stopped
from .view import AgentView, Interrupt, MadeDecision, RequestFate, RunView
from .workflow import Kind, Route, Workflow

__all__ = [
    "Agent",
    "AgentView",
    "AlreadyExpired",
    "AlreadyResolved",
    "AnswerRejected",
    "Answered",
    "Approved",
    "BinaryNotFound",
    "Checkpoint",
    "Choice",
    "Claimed",
    "Confirmation",
    "Conflict",
    "Decided",
    "Decision",
    "DecisionNotAllowed",
    "Declined",
    "EffectUnkept",
    "EffectUnknown",
    "Event",
    "Expired",
    "Feed",
    "FieldError",
    "Forbidden",
    "Held",
    "IdempotencyConflict",
    "Interrupt",
    "InterruptRequest",
    "Invalid",
    "InvalidSchema",
    "Kind",
    "LeaseLost",
    "Limit",
    "MadeDecision",
    "Message",
    "NameTaken",
    "NarrowedSchema",
    "NotFound",
    "Operator",
    "Ownership",
    "Parked",
    "RateLimited",
    "RequestFate",
    "Rerouted",
    "Route",
    "RouteNotAllowed",
    "Routed",
    "Router",
    "RouterError",
    "Run",
    "RunFinished",
    "RunOwned",
    "RunPaused",
    "RunView",
    "ServerFailed",
    "Signals",
    "StaleVersion",
    "Stop",
    "Stopped",
    "TakenRoute",
    "Unauthenticated",
    "Unavailable",
    "Unfilled",
    "Withdrawn",
    "Workflow",
]
