"""Requests to a server: each has a deadline, and is sent again until then where the connection or the server fails.

Sending again is safe, because every request that writes is idempotent: by its address (``PUT .../questions/refund``), by
the epoch that it names, or by an ``Idempotency-Key`` that stays the same over all attempts.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from .backoff import Backoff
from .errors import RouterError, Unavailable

log = logging.getLogger("interrupt_router")

TokenSource = Callable[[], Awaitable[str]]

LONGEST_WAIT = 30.0
"""How long the server holds a request that waits for news, in seconds, at most."""

DEADLINE = 60.0
"""How long a request is tried, in seconds, beyond what it waits for news."""

ATTEMPT = 15.0
"""How long one attempt may take, beyond what it waits for news. A server that hangs is asked again after that."""

AGAIN = frozenset({408, 429, 502, 503, 504})
"""Statuses that a later attempt may not meet."""


@dataclass(frozen=True)
class Reply:
    """What a server answered."""

    status: int
    body: Any
    etag: str | None


class Transport:
    """Sends requests with one token."""

    def __init__(self, client: httpx.AsyncClient, token: TokenSource, *, deadline: float = DEADLINE) -> None:
        self._client = client
        self._token = token
        self._deadline = deadline

    async def get(self, path: str, *, wait: float = 0.0, **params: object) -> Any:
        """Reads. With `wait`, the server may hold the request for so many seconds until there is news."""
        if wait > 0:
            params["wait_ms"] = round(wait * 1000)
        return (await self.send("GET", path, params=params, wait=wait)).body

    async def put(self, path: str, body: object = None, **params: object) -> Any:
        """Writes what the address names."""
        return (await self.send("PUT", path, params=params, body=body)).body

    async def post(self, path: str, body: object = None, *, wait: float = 0.0, **params: object) -> Any:
        """Writes, under an idempotency key of its own."""
        if wait > 0:
            params["wait_ms"] = round(wait * 1000)
        return (await self.send("POST", path, params=params, body=body, wait=wait)).body

    async def delete(self, path: str, **params: object) -> Any:
        """Removes what the address names."""
        return (await self.send("DELETE", path, params=params)).body

    async def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, object] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        wait: float = 0.0,
    ) -> Reply:
        """Sends a request until it is answered, refused, or its deadline has passed."""
        sent = dict(headers or {})
        if method == "POST":
            sent.setdefault("Idempotency-Key", str(uuid.uuid4()))
        until = time.monotonic() + self._deadline + wait
        backoff = Backoff()
        while True:
            left = until - time.monotonic()
            try:
                response = await self._client.request(
                    method,
                    path,
                    params=_written(params or {}),
                    json=body,
                    headers={**sent, "Authorization": f"Bearer {await self._token()}"},
                    timeout=max(min(wait + ATTEMPT, left), 0.001),
                )
            except httpx.TransportError as error:
                if isinstance(error, (httpx.UnsupportedProtocol, httpx.LocalProtocolError)):
                    raise RouterError(f"the request cannot be sent: {error}") from error
                failure: RouterError = _unreachable(self._client, error)
            else:
                if response.is_success:
                    return Reply(response.status_code, _body(response), response.headers.get("ETag"))
                failure = refusal(response)
                if response.status_code not in AGAIN:
                    raise failure
            delay = backoff.next_delay(failure.retry_after)
            if time.monotonic() + delay >= until:
                raise failure
            log.debug("%s %s is sent again in %.1f s: %s", method, path, delay, failure)
            await asyncio.sleep(delay)

    @asynccontextmanager
    async def stream(self, path: str, params: Mapping[str, object], *, silence: float) -> AsyncIterator[httpx.Response]:
        """Opens a response that is read as it arrives. It breaks after so many seconds of silence."""
        timeout = httpx.Timeout(ATTEMPT, read=silence)
        sent = {"Authorization": f"Bearer {await self._token()}", "Accept": "text/event-stream"}
        async with self._client.stream("GET", path, params=_written(params), headers=sent, timeout=timeout) as response:
            if not response.is_success:
                await response.aread()
            yield response


def refusal(response: httpx.Response) -> RouterError:
    """The error of a response that is no success."""
    try:
        problem = response.json()
    except ValueError:
        problem = None
    if not isinstance(problem, Mapping):
        problem = {"detail": f"the server answered {response.status_code} {response.reason_phrase}"}
    error = RouterError.of_problem(response.status_code, problem)
    error.retry_after = _seconds(response.headers.get("Retry-After"))
    return error


def _unreachable(client: httpx.AsyncClient, error: httpx.TransportError) -> Unavailable:
    what = str(error) or type(error).__name__
    return Unavailable(
        f"no answer from {client.base_url}: {what}",
        hint="start the server with `irq serve`, or check IRQ_SERVER",
    )


def _body(response: httpx.Response) -> Any:
    return response.json() if response.content else None


def _written(params: Mapping[str, object]) -> dict[str, str]:
    """Parameters as a query has them. Those without a value are left out."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in params.items()
        if value is not None
    }


def _seconds(retry_after: str | None) -> float | None:
    try:
        return float(retry_after) if retry_after else None
    except ValueError:
        return None
