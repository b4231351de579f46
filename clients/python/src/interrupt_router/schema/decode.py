"""Makes typed values of JSON: requests, and what the server answers, as dataclasses."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import functools
import re
import types
import typing
import uuid
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")
B = TypeVar("B", bound="Body")
V = TypeVar("V", bound="View")

_FRACTION = re.compile(r"\.(\d+)")
_MEMBER = "interrupt_router.member"


class Body:
    """A dataclass that the server sends. A test compares the members with the interface's description."""

    @classmethod
    def of_json(cls: type[B], body: Mapping[str, Any]) -> B:
        """The value of a response. Members that this version does not know are left out."""
        return typing.cast(B, _object(cls, body))


@dataclasses.dataclass(frozen=True)
class View(Body):
    """Something that people see."""

    raw: dict[str, Any] = dataclasses.field(default_factory=dict, repr=False, kw_only=True)
    """All of it, as JSON."""

    @classmethod
    def of_json(cls: type[V], body: Mapping[str, Any]) -> V:
        """The view of a response."""
        return dataclasses.replace(super().of_json(body), raw=dict(body))


def called(member: str) -> dict[str, str]:
    """The metadata of a field that is called otherwise in JSON."""
    return {_MEMBER: member}


def member_of(field: dataclasses.Field[Any]) -> str:
    """What a field is called in JSON."""
    return str(field.metadata.get(_MEMBER, field.name))


def decode(kind: type[T], value: Any) -> T:
    """The value of a type. Members of an object that the type does not name are ignored."""
    return typing.cast(T, _decoded(kind, value))


def _decoded(hint: Any, value: Any) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _decoded(arguments[0], value)
    if origin in (typing.Union, types.UnionType):
        return _of_union(arguments, value)
    if origin in (list, tuple):
        return origin(_decoded(arguments[0], entry) for entry in value)
    if origin is not None or not isinstance(hint, type):
        return value
    if issubclass(hint, Body):
        return hint.of_json(value)
    if dataclasses.is_dataclass(hint):
        return _object(hint, value)
    if issubclass(hint, enum.Enum):
        return hint(value)
    return _READ[hint](value) if hint in _READ else value


def _object(kind: type, value: Mapping[str, Any]) -> Any:
    hints = _hints(kind)
    given = [field for field in dataclasses.fields(kind) if field.init and member_of(field) in value]
    return kind(**{field.name: _decoded(hints[field.name], value[member_of(field)]) for field in given})


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    # The names of the interface are there for type checkers alone.
    names = {"api": _Names()} if issubclass(kind, Body) else None
    return typing.get_type_hints(kind, localns=names, include_extras=True)


class _Names:
    def __getattr__(self, name: str) -> type:
        return object


def time_of(text: str) -> datetime.datetime:
    """A time of the server. Before Python 3.11 `fromisoformat` read neither `Z` nor other fractions than these."""
    whole = _FRACTION.sub(lambda fraction: f".{fraction[1]:0<6.6}", text)
    return datetime.datetime.fromisoformat(whole.replace("Z", "+00:00"))


_READ: dict[type, Callable[[str], Any]] = {
    datetime.datetime: time_of,
    datetime.date: datetime.date.fromisoformat,
    uuid.UUID: uuid.UUID,
}


def _of_union(branches: tuple[Any, ...], value: Any) -> Any:
    """The value of the first branch that it fits: the server has checked that it fits one."""
    if value is None:
        return None
    branches = tuple(branch for branch in branches if branch is not type(None))
    if len(branches) == 1:
        return _decoded(branches[0], value)
    return next((_decoded(branch, value) for branch in branches if _fits(branch, value)), value)


def _fits(hint: Any, value: Any) -> bool:
    """Whether a value may be one of this type, as far as its form tells."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _fits(arguments[0], value)
    if origin is typing.Literal:
        return value in arguments
    if origin in (list, tuple):
        return isinstance(value, list)
    if not isinstance(hint, type):
        return False
    if dataclasses.is_dataclass(hint):
        fields = [field for field in dataclasses.fields(hint) if field.init]
        required = {field.name for field in fields if not has_default(field)}
        return isinstance(value, dict) and required <= value.keys() <= {field.name for field in fields}
    if issubclass(hint, enum.Enum):
        return any(member.value == value for member in hint)
    if hint in _READ:
        return isinstance(value, str)
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, hint)


def has_default(field: dataclasses.Field[Any]) -> bool:
    """Whether an object may leave a member out."""
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
