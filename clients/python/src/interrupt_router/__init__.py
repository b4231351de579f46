"""Python client of Interrupt Router: agents that people can stop, question and reroute.

`Router` and `Workflow` are the worker's side, `Operator` is the people's. `interrupt_router.sync` has the same without
``async``.
"""

from .agent import Agent
from .errors import (
    AlreadyResolved,
    AnswerRejected,
    BinaryNotFound,
    Claimed,
    Conflict,
    DecisionNotAllowed,
    EffectUnkept,
    EffectUnknown,
    Expired,
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
    Unanswered,
    Unauthenticated,
    Unavailable,
    Unfilled,
)
from .feed import Event, Feed
from .operator import Operator
from .ownership import Ownership
from .question import Choice, Confirmation, Decision, TakenRoute
from .routed import NarrowedSchema, Routed
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
    "AlreadyResolved",
    "AnswerRejected",
    "BinaryNotFound",
    "Checkpoint",
    "Choice",
    "Claimed",
    "Confirmation",
    "Conflict",
    "Decision",
    "DecisionNotAllowed",
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
    "Unanswered",
    "Unauthenticated",
    "Unavailable",
    "Unfilled",
    "Workflow",
]
