"""Limits of a dataclass's field: ``Annotated[str, Limit(max_length=2000)]``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# JSON Schema keywords by the names that pydantic and annotated-types use too, so that their annotations
# (`annotated_types.Le(5)`, or a named type that carries them) mean the same in a dataclass.
_KEYWORDS = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum"}
_LENGTHS = {
    "string": {"min_length": "minLength", "max_length": "maxLength"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
}


@dataclass(frozen=True)
class Limit:
    """Bounds of a value, and what a model reads about it."""

    ge: float | None = None
    """The least number."""
    le: float | None = None
    """The greatest number."""
    gt: float | None = None
    lt: float | None = None
    min_length: int | None = None
    """The fewest characters of a text, or entries of a list."""
    max_length: int | None = None
    """The most characters of a text, or entries of a list."""
    pattern: str | None = None
    """A regular expression."""
    description: str | None = None
    """What a model reads."""


def keywords(annotation: object, json_type: object) -> dict[str, Any]:
    """The JSON Schema keywords that an annotation stands for."""
    if isinstance(annotation, str):
        return {"description": annotation}
    found: dict[str, Any] = {}
    words = {**_KEYWORDS, **_LENGTHS.get(str(json_type), {}), "pattern": "pattern", "description": "description"}
    for name, keyword in words.items():
        if (value := getattr(annotation, name, None)) is not None:
            found[keyword] = value
    # An `annotated_types.Len`, or the field of pydantic, carries others.
    for inner in getattr(annotation, "metadata", ()):
        found.update(keywords(inner, json_type))
    return found
