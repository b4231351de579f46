"""Makes typed values of JSON: requests that are dataclasses."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import re
import types
import typing
import uuid
from typing import Any, TypeVar

T = TypeVar("T")

_FRACTION = re.compile(r"\.(\d+)")


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
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        hints = typing.get_type_hints(hint, include_extras=True)
        names = [field.name for field in dataclasses.fields(hint) if field.init and field.name in value]
        return hint(**{name: _decoded(hints[name], value[name]) for name in names})
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint(value)
    if hint is datetime.datetime:
        return time_of(value)
    if hint is datetime.date:
        return datetime.date.fromisoformat(value)
    if hint is uuid.UUID:
        return uuid.UUID(value)
    return value


def time_of(text: str) -> datetime.datetime:
    """A time of the server. Before Python 3.11 `fromisoformat` read neither `Z` nor other fractions than these."""
    whole = _FRACTION.sub(lambda fraction: f".{fraction[1]:0<6.6}", text)
    return datetime.datetime.fromisoformat(whole.replace("Z", "+00:00"))


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
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        fields = [field for field in dataclasses.fields(hint) if field.init]
        required = {
            field.name
            for field in fields
            if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        }
        return isinstance(value, dict) and required <= value.keys() <= {field.name for field in fields}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return any(member.value == value for member in hint)
    if hint in (datetime.datetime, datetime.date, uuid.UUID):
        return isinstance(value, str)
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(hint, type) and isinstance(value, hint)
