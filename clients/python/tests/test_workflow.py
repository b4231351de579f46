from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest

from interrupt_router import Invalid, Kind, Limit, Route, Workflow


@dataclass
class RefundRequest:
    """Pays money back."""

    cents: Annotated[int, Limit(ge=1, le=100_000)]


@dataclass
class Photo:
    url: Annotated[str, Limit(max_length=500)]


LEGAL = {"type": "object", "required": ["matter"], "properties": {"matter": {"type": "string", "maxLength": 2000}}}


def test_the_body_that_registers_it() -> None:
    desk = Workflow(
        "desk",
        kinds={"ORCHESTRATOR": None, "REFUNDS": Kind("refund", fields=Photo), "LEGAL": "legal"},
        routes={"refund": RefundRequest, "legal": LEGAL, "archive": Route(Photo, description="Puts it away.")},
    )
    registration = desk.registration()
    assert [kind["name"] for kind in registration["kinds"]] == ["ORCHESTRATOR", "REFUNDS", "LEGAL"]
    assert [kind["origin"] for kind in registration["kinds"]] == ["ORCHESTRATOR", "REFUNDS", "LEGAL"]
    assert registration["kinds"][1]["fields"]["additionalProperties"] is False
    refund, legal, archive = registration["routes"]
    assert (refund["name"], refund["field"], refund["request"]) == ("REFUNDS", "refund", "RefundRequest")
    assert refund["description"] == "Pays money back."
    assert refund["schema"]["properties"] == {"cents": {"type": "integer", "minimum": 1, "maximum": 100_000}}
    assert (legal["name"], legal["request"]) == ("LEGAL", "legal")
    assert legal["schema"]["additionalProperties"] is False
    assert (archive["name"], archive["description"]) == ("ARCHIVE", "Puts it away.")
    assert desk.root_kind == "ORCHESTRATOR"


def test_a_request_is_read_as_the_type_of_its_route() -> None:
    desk = Workflow("desk", kinds={"REFUNDS": "refund"}, routes={"refund": RefundRequest})
    assert desk.read_request("refund", {"cents": 5}) == RefundRequest(5)
    assert desk.read_request("route-of-a-newer-version", {"cents": 5}) == {"cents": 5}


def test_contradictions_are_refused_all_at_once() -> None:
    with pytest.raises(Invalid) as refused:
        Workflow(
            "desk",
            kinds={"REFUNDS": "refnd", "LEGAL": None},
            routes={"legal": LEGAL, "law": Route(LEGAL, name="LEGAL")},
        )
    assert [error.pointer for error in refused.value.errors] == ["/kinds/REFUNDS", "/routes", "/kinds/LEGAL"]


def test_a_workflow_without_kinds_is_refused() -> None:
    with pytest.raises(Invalid) as refused:
        Workflow("desk", kinds={})
    assert refused.value.errors[0].pointer == "/kinds"
