"""The JSON Schema of a dataclass."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import inspect
import types
import typing
import uuid
from typing import Any

from ..errors import FieldError, InvalidSchema
from .decode import has_default
from .limit import keywords

_PLAIN: dict[object, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    uuid.UUID: {"type": "string", "format": "uuid"},
}


def schema_of(kind: type, pointer: str = "") -> dict[str, Any]:
    """The schema of a dataclass, as its fields and their `Limit` annotations say."""
    hints = typing.get_type_hints(kind, include_extras=True)
    fields = [field for field in dataclasses.fields(kind) if field.init]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {field.name: _of(hints[field.name], f"{pointer}/properties/{field.name}") for field in fields},
        "required": [field.name for field in fields if not has_default(field)],
        "additionalProperties": False,
    }
    if description := _description(kind):
        schema["description"] = description
    return schema


def _of(hint: Any, pointer: str) -> dict[str, Any]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        schema = _of(arguments[0], pointer)
        for annotation in arguments[1:]:
            schema.update(keywords(annotation, schema.get("type")))
        return schema
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_of(argument, f"{pointer}/anyOf/{n}") for n, argument in enumerate(arguments)]}
    if origin is list:
        return {"type": "array", "items": _of(arguments[0], f"{pointer}/items")}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return schema_of(hint, pointer)
    remedy = "use text, numbers, booleans, dates, Literal, Enum, list[...], unions and dataclasses"
    raise InvalidSchema(
        f"`{hint}` cannot be bounded", hint=remedy, errors=[FieldError(pointer, f"`{hint}` cannot be bounded")]
    )


def _description(kind: type) -> str | None:
    """The docstring, unless it is the signature that `dataclass` writes itself."""
    text = inspect.cleandoc(kind.__doc__ or "")
    return None if text.startswith(f"{kind.__name__}(") else text or None
