from __future__ import annotations

import datetime
import uuid
from dataclasses import dataclass

import pytest

from interrupt_router.schema.decode import decode


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
