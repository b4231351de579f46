from __future__ import annotations

import ast
import datetime
import uuid
from dataclasses import MISSING, dataclass, fields
from pathlib import Path

import pytest

import interrupt_router
from interrupt_router import view
from interrupt_router.schema.decode import Body, View, decode, member_of


@dataclass
class Circle:
    radius: float


@dataclass
class Square:
    side: int


@dataclass
class Drawing:
    shapes: list[Circle | Square]
    made: datetime.datetime
    id: uuid.UUID | None = None


def test_a_union_is_read_by_what_fits() -> None:
    body = {"shapes": [{"side": 2}, {"radius": 1.5}], "made": "2026-11-25T10:00:30Z", "new": True}
    made = datetime.datetime(2026, 11, 25, 10, 0, 30, tzinfo=datetime.timezone.utc)
    assert decode(Drawing, body) == Drawing([Square(2), Circle(1.5)], made)


def test_an_optional_value_is_read_as_its_type() -> None:
    known = uuid.uuid4()
    assert decode(Drawing, {"shapes": [], "made": "2026-11-25T10:00:30+00:00", "id": str(known)}).id == known


@pytest.mark.parametrize(
    ("fraction", "microseconds"), [("", 0), (".5", 500_000), (".82516119", 825_161), (".000001999", 1)]
)
def test_times_have_as_many_digits_as_they_need(fraction: str, microseconds: int) -> None:
    made = decode(Drawing, {"shapes": [], "made": f"2026-11-25T20:30:15{fraction}Z"}).made
    assert made == datetime.datetime(2026, 11, 25, 20, 30, 15, microseconds, tzinfo=datetime.timezone.utc)


# What a class is called in the interface, where that is another name.
BODIES: dict[type[Body], str] = {
    view.NarrowedSchema: "SchemaView",
    view.Decision: "WorkDecisionView",
    view.Question: "WorkQuestionView",
    view.TakenRoute: "TakenRouteView",
    view.Checkpoint: "CheckpointStateView",
    view.InterruptRequest: "AskedAgentView",
    view.Message: "WorkMessageView",
    view.Signals: "SignalsView",
    view.Stop: "StopView",
    view.AgentView: "AgentView",
    view.Caller: "WhoAmI",
    view.Claim: "ClaimView",
    view.ConfirmationItem: "ConfirmationView",
    view.Interrupt: "InterruptView",
    view.MadeDecision: "DecisionView",
    view.OfferedChoice: "ChoiceView",
    view.OfferedRoute: "RouteView",
    view.RequestFate: "FateView",
    view.RunView: "RunView",
    view.SentMessage: "SentView",
}


def members(name: str) -> dict[str, bool]:
    """The members of a type of the interface, and whether each is always there."""
    stub = ast.parse((Path(interrupt_router.__file__).parent / "api.pyi").read_text())
    for each in ast.walk(stub):
        if isinstance(each, ast.ClassDef) and each.name == name:
            lines = [line for line in each.body if isinstance(line, ast.AnnAssign)]
            return {ast.unparse(line.target): "NotRequired" not in ast.unparse(line.annotation) for line in lines}
        # Members with the names of keywords are written as a call.
        if isinstance(each, ast.Call) and [ast.unparse(it) for it in each.args[:1]] == [repr(name)]:
            assert isinstance(each.args[1], ast.Dict)
            pairs = zip(each.args[1].keys, each.args[1].values, strict=True)
            return {ast.literal_eval(key): "NotRequired" not in ast.unparse(it) for key, it in pairs if key}
    raise AssertionError(f"the interface has no {name}")


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_the_server_sends_what_is_read(body: type[Body]) -> None:
    known = members(BODIES[body])
    for each in fields(body):  # type: ignore[arg-type]  # all of them are dataclasses
        if each.name != "raw":
            assert member_of(each) in known
            is_optional = each.default is not MISSING or each.default_factory is not MISSING
            assert is_optional or known[member_of(each)], f"{each.name} may be absent"


def test_every_body_is_compared() -> None:
    assert {*BODIES, View} == {*Body.__subclasses__(), *View.__subclasses__()}
