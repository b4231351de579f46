"""Python client of Interrupt Router: agents that people can stop, question and reroute.

`Router` and `Workflow` are the worker's side, `Operator` is the people's. `interrupt_router.sync` has the same without
``async``.
"""

from .agent import Agent as Agent
from .decided import (
    Answered as Answered,
    Approved as Approved,
    Decided as Decided,
    Declined as Declined,
    Expired as Expired,
    Rerouted as Rerouted,
    Routed as Routed,
    Withdrawn as Withdrawn,
)
from .errors import (
    AlreadyExpired as AlreadyExpired,
    AlreadyResolved as AlreadyResolved,
    AnswerRejected as AnswerRejected,
    BinaryNotFound as BinaryNotFound,
    Claimed as Claimed,
    Conflict as Conflict,
    DecisionNotAllowed as DecisionNotAllowed,
    EffectUnkept as EffectUnkept,
    EffectUnknown as EffectUnknown,
    FieldError as FieldError,
    Forbidden as Forbidden,
    Held as Held,
    IdempotencyConflict as IdempotencyConflict,
    Invalid as Invalid,
    InvalidSchema as InvalidSchema,
    LeaseLost as LeaseLost,
    NameTaken as NameTaken,
    NotFound as NotFound,
    RateLimited as RateLimited,
    RouteNotAllowed as RouteNotAllowed,
    RouterError as RouterError,
    RunFinished as RunFinished,
    RunOwned as RunOwned,
    RunPaused as RunPaused,
    ServerFailed as ServerFailed,
    StaleVersion as StaleVersion,
    Unauthenticated as Unauthenticated,
    Unavailable as Unavailable,
    Unfilled as Unfilled,
)
from .feed import Event as Event, Feed as Feed
from .operator import Operator as Operator
from .ownership import Ownership as Ownership
from .question import Choice as Choice, Confirmation as Confirmation
from .router import Router as Router
from .run import Run as Run
from .schema import Limit as Limit
from .stop import Parked as Parked, Stopped as Stopped
from .view import (
    AgentView as AgentView,
    Checkpoint as Checkpoint,
    Decision as Decision,
    Interrupt as Interrupt,
    InterruptRequest as InterruptRequest,
    MadeDecision as MadeDecision,
    Message as Message,
    NarrowedSchema as NarrowedSchema,
    RequestFate as RequestFate,
    RunView as RunView,
    Signals as Signals,
    Stop as Stop,
    TakenRoute as TakenRoute,
)
from .workflow import Kind as Kind, Route as Route, Workflow as Workflow
