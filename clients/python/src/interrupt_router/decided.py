"""What a decision means to the code that asked: whether it may do what it asked about, and along which route."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

from .errors import AnswerRejected, Conflict, RouterError, Unfilled
from .invoke import invoke
from .prompt import Prompt
from .view import Decision, NarrowedSchema, Question, TakenRoute

if TYPE_CHECKING:
    from . import api
    from .agent import Agent


ModelAnswer: TypeAlias = str | Mapping[str, Any]
Model: TypeAlias = Callable[[NarrowedSchema, Sequence[Mapping[str, str]]], ModelAnswer | Awaitable[ModelAnswer]]
"""Gets the schema and the messages so far (``role`` and ``content``), and returns the model's text or an object."""


@dataclass
class _Asked:
    """A question that is over, with what is filled in meanwhile."""

    agent: Agent
    question: Question


@dataclass(frozen=True, kw_only=True)
class Routed:
    """A decision that leaves one route: `Approved`, `Answered` or `Rerouted`. A kind without a route has none."""

    key: str
    """The question's key."""
    decision: Decision
    """What was decided, and by whom."""
    _asked: _Asked = field(repr=False, compare=False)

    @property
    def route(self) -> TakenRoute | None:
        """The one route that the answer takes."""
        return self._asked.question.route

    @property
    def request(self) -> Any:
        """The request, as the type of the route; None until it is filled in. A person may have given it already."""
        if self.route is None or self._asked.question.request is None:
            return None
        return self._asked.agent.run.workflow.read_request(self.route.field, self._asked.question.request)

    @property
    def text(self) -> str | None:
        """What the person wrote."""
        return self.decision.text

    async def schema(self, dialect: api.DialectName = "json-schema") -> NarrowedSchema:
        """The schema to hand to the model."""
        query: api.SchemaQuery = {"dialect": dialect}
        return NarrowedSchema.of_json(await self._asked.agent.lease.get(f"{self._path}/schema", query))

    async def submit(self, answer: ModelAnswer) -> Any:
        """Submits what the model answered; returns the request.

        Raises `AnswerRejected` with the places that do not fit. Returns None where the model has failed too often: a
        person is then asked, and `fill` waits for that.
        """
        body: api.AnswerBody = {"answer": answer if isinstance(answer, str) else dict(answer)}
        self._asked.question = Question.of_json(await self._asked.agent.lease.post(f"{self._path}/request", body))
        return self.request

    async def fill(self, model: Model, *, dialect: api.DialectName = "json-schema") -> Any:
        """Lets a model fill in the request, explains its mistakes to it, and asks a person where it keeps failing.

        A request that is there already, because a person edited it or an earlier worker filled it in, is returned
        without asking the model.
        """
        if self.route is None:
            raise Conflict(
                f"the answer to `{self.key}` takes no route, so there is no request",
                hint="read `decision`; a route for the kind is said in the workflow",
            )
        with self._asked.agent.run.busy():
            await self._ask_model(model, dialect)
        if self._asked.question.request is None:
            await self._ask_person()
        return self.request

    async def _ask_model(self, model: Model, dialect: api.DialectName) -> None:
        if self._asked.question.request is not None or self._asked.question.asked is not None:
            return
        agent, narrowed = self._asked.agent, await self.schema(dialect)
        prompt = Prompt(narrowed.field, self._asked.question, self.decision)
        while self._asked.question.asked is None:
            agent.check()
            # A graceful stop lets the model end; an immediate one cancels its call.
            call = invoke(model, narrowed, prompt.messages)
            answer: ModelAnswer = await agent.run.watch.guard(agent.id, call, immediate_only=True)
            try:
                await self.submit(answer)
            except AnswerRejected as rejected:
                prompt.reject(answer, rejected.errors)
            else:
                return

    async def _ask_person(self) -> None:
        decided = await self._asked.agent.wait_for(self._asked.question.asked or f"{self.key}:request")
        self._asked.question = Question.of_json(await self._asked.agent.lease.get(self._path))
        if self._asked.question.request is None:
            made = decided.decision
            verdict = ": ".join(filter(None, [made.decision, made.text])) if made else decided.state
            raise Unfilled(
                f"the model could not fill in `{self.route.field if self.route else self.key}`, and the person who was "
                f"asked gave no request: {verdict}"
            )

    @property
    def _path(self) -> str:
        return self._asked.agent.question_path(self.key)


@final
@dataclass(frozen=True, kw_only=True)
class Approved(Routed):
    """Do it: a person, a rule or the policy agreed to what was asked. The request of an edit is there already."""

    decided_as: Literal["approved"] = "approved"


@final
@dataclass(frozen=True, kw_only=True)
class Answered(Routed):
    """Read what was said before anything is done: the words, choices or refused confirmations may say no."""

    decided_as: Literal["answered"] = "answered"

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that were chosen."""
        return tuple(self.decision.choices)

    @property
    def confirmations(self) -> Mapping[str, bool]:
        """What was confirmed and what was not, by the confirmation's id."""
        return self.decision.confirmations


@final
@dataclass(frozen=True, kw_only=True)
class Rerouted(Routed):
    """Do not do what was asked about: a person or a supervisor's event sent the answer along another route."""

    decided_as: Literal["rerouted"] = "rerouted"


@final
@dataclass(frozen=True, kw_only=True)
class Declined:
    """Do nothing: it was rejected, ignored or cancelled."""

    key: str
    how: Literal["reject", "ignore", "cancel"]
    """Which of the three."""
    decision: Decision
    decided_as: Literal["declined"] = "declined"

    @property
    def text(self) -> str | None:
        """Why, in the person's words."""
        return self.decision.text


@final
@dataclass(frozen=True, kw_only=True)
class Expired:
    """Do nothing: no answer came in time."""

    key: str
    decision: Decision | None
    decided_as: Literal["expired"] = "expired"


@final
@dataclass(frozen=True, kw_only=True)
class Withdrawn:
    """Do nothing: the question was withdrawn."""

    key: str
    decision: None = None
    decided_as: Literal["withdrawn"] = "withdrawn"


Decided: TypeAlias = Approved | Answered | Rerouted | Declined | Expired | Withdrawn
"""What became of a question. Tell it apart with `match`; type checkers see whether a case is missing."""

_ROUTED: dict[str, type[Approved | Answered | Rerouted]] = {it.decided_as: it for it in (Approved, Answered, Rerouted)}


def decided(agent: Agent, question: Question) -> Decided:
    """What became of a question that is over, as the server says it."""
    key, made = question.key, question.decision
    match question.decided_as:
        case "expired":
            return Expired(key=key, decision=made)
        case "withdrawn":
            return Withdrawn(key=key)
        case "declined" if made is not None and made.decision in ("reject", "ignore", "cancel"):
            return Declined(key=key, how=made.decision, decision=made)
        case str(meaning) if made is not None and meaning in _ROUTED:
            return _ROUTED[meaning](key=key, decision=made, _asked=_Asked(agent, question))
    raise RouterError(
        f"the server does not say what the decision of `{key}` means", hint="client and server are of one version"
    )
