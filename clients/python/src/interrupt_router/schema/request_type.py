"""The request of a route: what a model fills in, and what the worker's code gets."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, runtime_checkable

from ..errors import InvalidSchema
from .closed import closed
from .decode import decode
from .of_type import schema_of


@runtime_checkable
class PydanticModel(Protocol):
    """What this package uses of a pydantic model's class, so that it need not import pydantic."""

    __name__: str

    def model_json_schema(self) -> dict[str, Any]: ...

    def model_validate(self, obj: Any) -> Any: ...


RequestSource: TypeAlias = "type | Mapping[str, Any]"
"""A pydantic model, a dataclass, or a JSON Schema."""


class RequestType:
    """The type of a request: its schema, closed and bounded, and how to read a value of it."""

    def __init__(self, source: RequestSource, name: str) -> None:
        self._source = source
        if isinstance(source, Mapping):
            self.name, schema = str(source.get("title") or name), dict(source)
        elif isinstance(source, PydanticModel):
            self.name, schema = source.__name__, source.model_json_schema()
        elif dataclasses.is_dataclass(source):
            self.name, schema = source.__name__, schema_of(source)
        else:
            raise InvalidSchema(
                f"`{name}`: {source!r} says no schema", hint="give a pydantic model, a dataclass or a JSON Schema"
            )
        self.schema = closed(schema, self.name)
        """The JSON Schema, closed and bounded."""

    def read(self, value: Any) -> Any:
        """The request as the worker's code gets it: a model, a dataclass, or a dict."""
        if isinstance(self._source, Mapping):
            return value
        if isinstance(self._source, PydanticModel):
            return self._source.model_validate(value)
        return decode(self._source, value)
