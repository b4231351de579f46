"""The feed: what happens, as it happens, without gaps over reconnects."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import aiohttp

from .backoff import Backoff
from .errors import RateLimited, RouterError, Unavailable
from .sse import SseParser
from .transport import Failed, Transport, is_success, refusal

if TYPE_CHECKING:
    from . import api

log = logging.getLogger("interrupt_router")

SILENCE = 60.0
"""After so many seconds without a sign of life the connection is given up. The server sends one every few seconds."""


@dataclass(frozen=True)
class Event:
    """A CloudEvent of the feed."""

    cursor: str
    """Its position: `Operator.events` with ``after=cursor`` goes on behind it."""
    type: str
    """What happened: ``dev.irq.interrupt.resolved.v1``."""
    data: Any
    raw: dict[str, Any]
    """The whole event."""


class Feed:
    """Events, from a position on or from now on. Iterate over it with ``async for``.

    It reconnects by itself. It ends only where it follows one run, and that run has ended and has no more to tell. Keep
    `cursor` to go on in another process.
    """

    def __init__(self, transport: Transport, query: api.FeedQuery, after: str | None) -> None:
        self._transport = transport
        self._query = query
        self.cursor = after
        """The position that was read last."""

    async def __aiter__(self) -> AsyncIterator[Event]:
        backoff = Backoff()
        if self.cursor is None:
            # "From now on" is a position, too: a connection that breaks before the first event misses nothing.
            self.cursor = (await self._transport.get("/v1/whoami"))["seq"]
        while True:
            retry_after = None
            try:
                query: api.FeedQuery = {**self._query, "after_seq": self.cursor}
                async with self._transport.stream("/v1/events", query, silence=SILENCE) as response:
                    if response.status == HTTPStatus.NO_CONTENT:
                        return
                    if not is_success(response):
                        raise refusal(response, await response.read())
                    async for event in _events(response):
                        backoff.reset()
                        self.cursor = event.cursor
                        yield event
            except (Unavailable, RateLimited, *Failed) as error:
                retry_after = getattr(error, "retry_after", None)
                log.debug("the feed is read again: %s", error)
            await asyncio.sleep(backoff.next_delay(retry_after))


async def _events(response: aiohttp.ClientResponse) -> AsyncIterator[Event]:
    parser = SseParser()
    async for chunk in response.content.iter_any():
        for message in parser.read(chunk):
            raw = json.loads(message.data)
            if message.id is None:
                raise RouterError("the feed sent an event without a position")
            yield Event(message.id, raw.get("type", ""), raw.get("data"), raw)
