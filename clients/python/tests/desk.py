"""The workflow of the tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from interrupt_router import Decided, Limit, NarrowedSchema, Ownership, Routed, Router, Run, Workflow


@dataclass
class RefundRequest:
    """Pays money back."""

    cents: Annotated[int, Limit(ge=1, le=100_000)]


@dataclass
class LegalRequest:
    matter: Annotated[str, Limit(max_length=2000)]


DESK = Workflow(
    "desk",
    kinds={"ORCHESTRATOR": None, "REFUNDS": "refund", "LEGAL": "legal"},
    routes={"refund": RefundRequest, "legal": LegalRequest},
)


class Model:
    """A model that gives answers from a list, and keeps what it was told."""

    def __init__(self, *answers: Any) -> None:
        self.told: list[Sequence[Any]] = []
        self.schemas: list[NarrowedSchema] = []
        self._answers = list(answers)

    def __call__(self, schema: NarrowedSchema, messages: Sequence[Any]) -> Any:
        self.schemas.append(schema)
        self.told.append(list(messages))
        return self._answers.pop(0)


def routed_by(decided: Decided) -> Routed:
    """A decision that leaves a route."""
    assert isinstance(decided, Routed), decided
    return decided


async def killed(owned: Ownership) -> Run:
    """A run that its worker took before it was killed: nothing renews its lease, and nothing says that it ended."""
    run = await owned.__aenter__()
    await run.watch.close()
    return run


def again(router: Router, run: Run) -> Ownership:
    """The same run, taken by the next worker."""
    return router.run(DESK, alias=run.alias, input=run.input)
