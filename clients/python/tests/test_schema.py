from __future__ import annotations

import datetime
import enum
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pydantic
import pytest

from interrupt_router import InvalidSchema, Limit
from interrupt_router.schema import RequestType


class Urgency(enum.Enum):
    LOW = "low"
    HIGH = "high"


@dataclass
class Address:
    city: Annotated[str, Limit(max_length=80)]


@dataclass
class Parcel:
    """Sends the order again."""

    weight: Annotated[float, Limit(gt=0, le=30)]
    to: Address
    urgency: Urgency
    carrier: Literal["post", "bike"]
    due: datetime.date
    notes: Annotated[list[Annotated[str, Limit(max_length=200)]], Limit(max_length=5)] = field(default_factory=list)
    phone: Annotated[str, Limit(max_length=20)] | None = None


class PydanticParcel(pydantic.BaseModel):
    weight: float = pydantic.Field(gt=0, le=30)
    city: str = pydantic.Field(max_length=80, description="Where to.")
    phone: str | None = pydantic.Field(default=None, max_length=20)


def test_a_dataclass_is_closed_and_keeps_its_bounds() -> None:
    assert RequestType(Parcel, "parcel").schema == {
        "type": "object",
        "description": "Sends the order again.",
        "additionalProperties": False,
        "required": ["weight", "to", "urgency", "carrier", "due"],
        "properties": {
            "weight": {"type": "number", "exclusiveMinimum": 0, "maximum": 30},
            "to": {
                "type": "object",
                "additionalProperties": False,
                "required": ["city"],
                "properties": {"city": {"type": "string", "maxLength": 80}},
            },
            "urgency": {"enum": ["low", "high"]},
            "carrier": {"enum": ["post", "bike"]},
            "due": {"type": "string", "format": "date"},
            "notes": {"type": "array", "items": {"type": "string", "maxLength": 200}, "maxItems": 5},
            "phone": {"anyOf": [{"type": "string", "maxLength": 20}, {"type": "null"}]},
        },
    }


def test_a_dataclass_is_read_back() -> None:
    value = {
        "weight": 2.5,
        "to": {"city": "Graz"},
        "urgency": "high",
        "carrier": "bike",
        "due": "2026-11-25",
        "notes": ["ring"],
        "phone": "1",
    }
    assert RequestType(Parcel, "parcel").read(value) == Parcel(
        2.5, Address("Graz"), Urgency.HIGH, "bike", datetime.date(2026, 11, 25), ["ring"], "1"
    )


def test_a_pydantic_model_is_closed_and_read_back() -> None:
    request = RequestType(PydanticParcel, "parcel")
    assert request.name == "PydanticParcel"
    assert request.schema == {
        "type": "object",
        "additionalProperties": False,
        "required": ["weight", "city"],
        "properties": {
            "weight": {"type": "number", "exclusiveMinimum": 0, "maximum": 30},
            "city": {"type": "string", "maxLength": 80, "description": "Where to."},
            "phone": {"anyOf": [{"type": "string", "maxLength": 20}, {"type": "null"}]},
        },
    }
    assert request.read({"weight": 1, "city": "Graz"}) == PydanticParcel(weight=1, city="Graz")


def test_a_plain_schema_is_closed_all_the_way_down() -> None:
    inner = {"type": "object", "properties": {"cents": {"type": "integer"}}}
    schema = {"$ref": "#/$defs/Sum", "type": "object", "$defs": {"Sum": inner}}
    closed = RequestType(schema, "refund").schema
    assert closed["$defs"]["Sum"]["additionalProperties"] is False
    assert "additionalProperties" not in inner, "the caller's schema is left as it is"


UNBOUNDED: list[tuple[dict[str, Any], str]] = [
    ({"type": "string"}, "/properties/x"),
    ({"type": ["string", "null"], "pattern": "^a"}, "/properties/x"),
    ({"type": "array", "items": {"type": "integer"}}, "/properties/x"),
    ({"type": "array", "maxItems": 3}, "/properties/x"),
    ({"type": "array", "maxItems": 3, "items": {"type": "string"}}, "/properties/x/items"),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, "/properties/x"),
    ({"description": "anything"}, "/properties/x"),
    ({"anyOf": [{"type": "null"}, {"type": "string"}]}, "/properties/x/anyOf/1"),
]


@pytest.mark.parametrize(("schema", "pointer"), UNBOUNDED)
def test_what_nothing_bounds_is_refused_with_its_place(schema: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidSchema) as refused:
        RequestType({"type": "object", "properties": {"x": schema}}, "request")
    assert [error.pointer for error in refused.value.errors] == [pointer]


def test_all_places_are_named_at_once() -> None:
    class Open(pydantic.BaseModel):
        text: str
        tags: list[str]
        extra: dict[str, int]

    with pytest.raises(InvalidSchema) as refused:
        RequestType(Open, "open")
    assert [error.pointer for error in refused.value.errors] == [
        "/properties/text",
        "/properties/tags",
        "/properties/tags/items",
        "/properties/extra",
    ]


def test_a_field_of_a_dataclass_without_a_form_in_json_is_refused() -> None:
    @dataclass
    class Wrong:
        where: complex

    with pytest.raises(InvalidSchema) as refused:
        RequestType(Wrong, "wrong")
    assert refused.value.errors[0].pointer == "/properties/where"


def test_what_says_no_schema_is_refused() -> None:
    with pytest.raises(InvalidSchema, match="says no schema"):
        RequestType(int, "number")
