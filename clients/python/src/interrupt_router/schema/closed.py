"""Closes the objects of a schema, and refuses what nothing bounds.

A model fills in the request, so every text and list needs a limit, and no object may have properties that the schema does
not name. The server checks all of it again when the workflow is registered; here the mistake is reported where it was
made, before anything is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import FieldError, InvalidSchema

_BOUNDS_OF_TEXT = ("maxLength", "enum", "const", "format")
_SAYS_SOMETHING = ("type", "$ref", "anyOf", "oneOf", "enum", "const")
# What pydantic writes for itself: no provider reads it, and the decoder knows the defaults.
_DROPPED = ("title", "default", "discriminator")


def closed(schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The schema of a request with all its objects closed.

    Raises `InvalidSchema` with every place that cannot be bounded.
    """
    closing = _Closing()
    found = closing.schema(schema, "")
    definitions = schema.get("$defs")
    if isinstance(definitions, Mapping):
        found["$defs"] = {
            key: closing.schema(definition, f"/$defs/{_token(key)}") for key, definition in definitions.items()
        }
    if "object" not in _types(schema):
        closing.refuse("", 'a request is an object: say `"type": "object"`')
    if closing.errors:
        raise InvalidSchema(
            f"the schema of `{name}` cannot be bounded",
            hint="see `errors`; limits of texts and lists are `max_length`, in JSON Schema `maxLength` and `maxItems`",
            errors=closing.errors,
        )
    return found


class _Closing:
    """One walk through a schema, which collects all mistakes."""

    def __init__(self) -> None:
        self.errors: list[FieldError] = []

    def refuse(self, pointer: str, message: str) -> None:
        self.errors.append(FieldError(pointer, message))

    def schema(self, schema: object, pointer: str) -> dict[str, Any]:
        if not isinstance(schema, Mapping):
            self.refuse(pointer, "a schema of its own is needed here, not true or false")
            return {}
        found = {key: value for key, value in schema.items() if key not in _DROPPED and key != "$defs"}
        types = _types(found)
        if not any(key in found for key in _SAYS_SOMETHING):
            self.refuse(pointer, "anything fits here: say its type")
        if "object" in types or "properties" in found:
            self._object(found, pointer)
        if "string" in types and not any(key in found for key in _BOUNDS_OF_TEXT):
            self.refuse(pointer, "the text may be of any length: give it a `max_length`")
        if "array" in types:
            self._array(found, pointer)
        for key in ("anyOf", "oneOf"):
            if isinstance(branches := found.get(key), list):
                found[key] = [self.schema(branch, f"{pointer}/{key}/{n}") for n, branch in enumerate(branches)]
        return found

    def _object(self, found: dict[str, Any], pointer: str) -> None:
        properties = found.get("properties", {})
        if found.get("additionalProperties", False) is not False:
            self.refuse(pointer, "a map takes any keys: name its properties instead")
        found["additionalProperties"] = False
        found["properties"] = {
            key: self.schema(value, f"{pointer}/properties/{_token(key)}") for key, value in properties.items()
        }

    def _array(self, found: dict[str, Any], pointer: str) -> None:
        if "maxItems" not in found:
            self.refuse(pointer, "the list may be of any length: give it a `max_length`")
        if "items" in found:
            found["items"] = self.schema(found["items"], f"{pointer}/items")
        else:
            self.refuse(pointer, "the list may hold anything: say the type of its entries")


def _types(schema: Mapping[str, Any]) -> tuple[str, ...]:
    kind = schema.get("type")
    if isinstance(kind, str):
        return (kind,)
    return tuple(kind) if isinstance(kind, list) else ()


def _token(name: str) -> str:
    """A name as a JSON pointer has it."""
    return name.replace("~", "~0").replace("/", "~1")
