"""Server-sent events, as their bytes arrive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SseMessage:
    """One event of a stream."""

    id: str | None
    data: str


@dataclass
class SseParser:
    """Collects the lines of an event until the blank line that ends it."""

    _rest: bytes = b""
    _id: str | None = None
    _data: list[str] = field(default_factory=list)

    def read(self, chunk: bytes) -> Iterator[SseMessage]:
        """Takes bytes, which end anywhere; yields the events that they complete."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            if message := self._line(line.removesuffix(b"\r").decode()):
                yield message

    def _line(self, line: str) -> SseMessage | None:
        """Takes a line without its end; returns the event that it completes."""
        if not line:
            # An event without data, such as a comment that keeps the connection alive, is none.
            message = SseMessage(self._id, "\n".join(self._data)) if self._data else None
            self._data = []
            return message
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self._id = value
        return None
