"""What can go wrong: one class for each problem that a caller may want to tell apart.

A server answers a refusal with a problem document (RFC 9457). Its ``code`` picks the class where it has one of its own, and
the status where it has not: so a code that is new to this version has a class, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from . import api


@dataclass(frozen=True)
class FieldError:
    """One place that does not fit."""

    pointer: str
    """Where, as a JSON pointer."""
    message: str
    """What is wrong there."""

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: {self.message}"


class RouterError(Exception):
    """Everything that this package raises, apart from `Stopped` and `Parked`."""

    _by_code: ClassVar[dict[str, type[RouterError]]] = {}
    _by_status: ClassVar[dict[int, type[RouterError]]] = {}

    def __init_subclass__(cls, codes: Sequence[api.ProblemCode] = (), status: int | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        for code in codes:
            RouterError._by_code[code] = cls
        if status is not None:
            RouterError._by_status[status] = cls

    def __init__(
        self,
        detail: str,
        *,
        hint: str | None = None,
        errors: Sequence[FieldError] = (),
        code: str | None = None,
        status: int | None = None,
        problem: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        """What is wrong."""
        self.hint = hint
        """What to do about it."""
        self.errors = tuple(errors)
        """The places of a body that do not fit."""
        self.code = code
        """The problem's code, where a server sent one."""
        self.status = status
        """The HTTP status, where a server answered."""
        self.problem: Mapping[str, Any] = problem or {}
        """The whole problem document."""
        self.retry_after: float | None = None
        """After how many seconds the server wants to be asked again, where it says so."""

    def __str__(self) -> str:
        lines = [self.detail, *(f"  {error}" for error in self.errors)]
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)

    @staticmethod
    def of_problem(status: int, problem: Mapping[str, Any]) -> RouterError:
        """The error of a problem document."""
        code = problem.get("code")
        of_status = Unavailable if status >= 500 else RouterError._by_status.get(status, RouterError)
        kind = RouterError._by_code.get(str(code), of_status)
        errors = [
            FieldError(str(error.get("pointer", "")), str(error.get("message", "")))
            for error in problem.get("errors") or ()
            if isinstance(error, Mapping)
        ]
        return kind(
            str(problem.get("detail") or problem.get("title") or f"the server answered {status}"),
            hint=problem.get("hint"),
            errors=errors,
            code=code if isinstance(code, str) else None,
            status=status,
            problem=problem,
        )


class Invalid(RouterError, codes=("malformed", "invalid-parameter", "too-large", "headers-too-large"), status=422):
    """The request does not have the form that the server wants; `errors` says where."""


class Conflict(RouterError, status=409):
    """The request does not fit how things stand now."""


class Unauthenticated(RouterError, status=401):
    """The token is missing, unknown, expired or revoked."""


class Forbidden(RouterError, codes=("foreign-host",), status=403):
    """The token's role may not do this."""


class NotFound(RouterError, status=404):
    """There is no such thing, or the token may not see it."""


class RateLimited(RouterError, status=429):
    """Too many requests, also after waiting as long as the server asked for."""


class Unavailable(RouterError):
    """No server answered before the deadline, or it could not do its work."""


class LeaseLost(Conflict, codes=("lease-lost",)):
    """Another worker has the run, or it was released or stopped. This worker can write nothing more to it."""


class RunOwned(Conflict, codes=("run-owned",)):
    """Another worker has the run."""


class RunPaused(Conflict, codes=("run-paused",)):
    """The run is paused until a person resumes it."""


class RunFinished(Conflict, codes=("run-finished",)):
    """The run has ended."""

    @property
    def state(self) -> str | None:
        """How it ended, where `Router.run` found it so: ``completed``, ``failed`` or ``cancelled``."""
        state = self.problem.get("state")
        return state if isinstance(state, str) else None

    @property
    def result(self) -> Any:
        """What came of it, where `Router.run` found it so."""
        return self.problem.get("result")


class NameTaken(Conflict, codes=("name-taken",)):
    """The alias belongs to a run with another input."""


class AlreadyResolved(Conflict, codes=("already-resolved",)):
    """Another person, a rule or a deadline decided first."""

    @property
    def resolved_by(self) -> str | None:
        """Who decided."""
        by = self.problem.get("resolved_by")
        return by if isinstance(by, str) else None


class AlreadyExpired(Conflict, codes=("expired",)):
    """The deadline of the question has passed."""


class Claimed(Conflict, codes=("claimed",)):
    """Another person has claimed the question."""


class Held(Conflict, codes=("held",)):
    """Another interrupt of the run has to be decided first."""


class StaleVersion(RouterError, status=412):
    """The interrupt has changed since it was read: read it again and decide anew."""


class DecisionNotAllowed(Invalid, codes=("decision-not-allowed", "not-rememberable")):
    """The interrupt does not allow this decision."""


class RouteNotAllowed(Invalid, codes=("route-not-allowed",)):
    """The answer may not go there."""


class IdempotencyConflict(Invalid, codes=("idempotency-conflict",)):
    """The key was used for another question, effect or request."""

    @property
    def differs(self) -> Sequence[str]:
        """What differs from the first time, where the server says it: ``fields.cents``, ``arguments``."""
        return tuple(self.problem.get("differs") or ())


class AnswerRejected(Invalid, codes=("answer-rejected",)):
    """The model's answer does not fit the one legal route; `errors` says where."""

    @property
    def corrections_left(self) -> int:
        """How many more answers of the model the server reads before it asks a person."""
        left = self.problem.get("corrections_left")
        return left if isinstance(left, int) else 0


class InvalidSchema(RouterError):
    """A route has a schema that cannot be closed or bounded; `errors` says where."""


class EffectUnknown(RouterError):
    """A worker began this effect and died: it may have happened or not.

    Find out, or give `Agent.effect` a ``lookup`` that does, or say ``repeatable=True`` where doing it twice is harmless.
    """


class EffectUnkept(RouterError):
    """This effect has happened and is not done again, but its result cannot be kept: code that runs again gets this, too."""

    def __init__(self, key: str, what: str) -> None:
        super().__init__(
            f"the effect `{key}` has happened, but its result cannot be kept: {what}",
            hint="return what JSON can hold: texts, finite numbers below 2^64, true, false, null, lists and objects of them",
            code="effect-unkept",
        )
        self.key = key
        """The effect's key."""
        self.what = what
        """What could not be kept, and why."""


class Unfilled(RouterError):
    """A person was asked to fill in the request after the model had failed, and gave none."""


class BinaryNotFound(RouterError):
    """The program `irq` is not on this machine."""


class ServerFailed(RouterError):
    """`irq serve` did not start."""
