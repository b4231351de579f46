"""The answer to a question: what was decided, and the one route that is left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .errors import AnswerRejected, Conflict, Unfilled
from .invoke import invoke
from .prompt import Prompt
from .question import Decision, Question, TakenRoute

if TYPE_CHECKING:
    from . import api
    from .agent import Agent

Dialect: TypeAlias = Literal["json-schema", "openai", "anthropic", "gemini", "grammar"]


@dataclass(frozen=True)
class NarrowedSchema:
    """What a model may answer: one property, the field of the route."""

    name: str
    """A name for it, where a provider wants one."""
    dialect: api.DialectName
    schema: dict[str, Any]
    """The schema in the provider's dialect."""
    field: str
    """The one property."""

    @staticmethod
    def of_json(body: api.SchemaView) -> NarrowedSchema:
        """The schema of a response."""
        return NarrowedSchema(body["name"], body["dialect"], body["schema"], body["field"])


ModelAnswer: TypeAlias = str | Mapping[str, Any]
Model: TypeAlias = Callable[[NarrowedSchema, Sequence[Mapping[str, str]]], ModelAnswer | Awaitable[ModelAnswer]]
"""Gets the schema and the messages so far (``role`` and ``content``), and returns the model's text or an object."""


class Routed:
    """A decision, and the route that it leaves. A kind without a route has none: the decision is all there is."""

    def __init__(self, agent: Agent, question: Question, decision: Decision) -> None:
        self._agent = agent
        self._question = question
        self.decision = decision
        """What was decided."""

    @property
    def key(self) -> str:
        """The question's key."""
        return self._question.key

    @property
    def route(self) -> TakenRoute | None:
        """The one route that the answer takes."""
        return self._question.route

    @property
    def request(self) -> Any:
        """The request, as the type of the route; None until it is filled in. A person may have given it already."""
        if self.route is None or self._question.request is None:
            return None
        return self._agent.run.workflow.read_request(self.route.field, self._question.request)

    async def schema(self, dialect: Dialect = "json-schema") -> NarrowedSchema:
        """The schema to hand to the model."""
        query: api.SchemaQuery = {"dialect": dialect}
        return NarrowedSchema.of_json(await self._agent.lease.get(f"{self._path}/schema", query))

    async def submit(self, answer: ModelAnswer) -> Any:
        """Submits what the model answered; returns the request.

        Raises `AnswerRejected` with the places that do not fit. Returns None where the model has failed too often: a
        person is then asked, and `fill` waits for that.
        """
        body: api.AnswerBody = {"answer": answer if isinstance(answer, str) else dict(answer)}
        self._question = Question.of_json(await self._agent.lease.post(f"{self._path}/request", body))
        return self.request

    async def fill(self, model: Model, *, dialect: Dialect = "json-schema") -> Any:
        """Lets a model fill in the request, explains its mistakes to it, and asks a person where it keeps failing.

        A request that is there already, because a person edited it or an earlier worker filled it in, is returned
        without asking the model.
        """
        if self.route is None:
            raise Conflict(
                f"the answer to `{self.key}` takes no route, so there is no request",
                hint="read `decision`; a route for the kind is said in the workflow",
            )
        with self._agent.run.busy():
            await self._ask_model(model, dialect)
        if self._question.request is None:
            await self._ask_person()
        return self.request

    async def _ask_model(self, model: Model, dialect: Dialect) -> None:
        if self._question.request is not None or self._question.asked is not None:
            return
        agent, narrowed = self._agent, await self.schema(dialect)
        prompt = Prompt(narrowed.field, self._question, self.decision)
        while self._question.asked is None:
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
        asked = self._question.asked or f"{self.key}:request"
        decided = await self._agent.wait_for(asked)
        self._question = Question.of_json(await self._agent.lease.get(self._path))
        if self._question.request is None:
            verdict = decided.decision.decision if decided.decision else decided.state
            raise Unfilled(
                f"the model could not fill in `{self.route.field if self.route else self.key}`, and the person who was "
                f"asked gave no request: {verdict}"
            )

    @property
    def _path(self) -> str:
        return self._agent.question_path(self.key)
