"""Requests to a server: each has a deadline, and is sent again until then where the connection or the server fails.

Sending again is safe, because every request that writes is idempotent: by its address (``PUT .../questions/refund``), by
the epoch that it names, or by an ``Idempotency-Key`` that stays the same over all attempts.
"""

from __future__ import annotations

import asyncio
import io
import json
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any, TypeAlias
from urllib.parse import urlencode

import aiohttp
from yarl import URL

from .backoff import Backoff
from .errors import RouterError, Unavailable
from .waiting import SAID_AFTER, log

TokenSource = Callable[[], Awaitable[str]]

Query: TypeAlias = Mapping[str, object]
"""What stands after the question mark. `api` has a type for each that has one; what is None is left out."""

NO_QUERY: Query = MappingProxyType({})

Headers: TypeAlias = Mapping[str, str]

NO_HEADERS: Headers = MappingProxyType({})

LONGEST_WAIT = 30.0
"""How long the server holds a request that waits for news, in seconds, at most."""

DEADLINE = 60.0
"""How long a request is tried, in seconds, beyond what it waits for news."""

ATTEMPT = 15.0
"""How long one attempt may take, beyond what it waits for news. A server that hangs is asked again after that."""

AGAIN = frozenset({408, 429, 502, 503, 504})
"""Statuses that a later attempt may not meet."""

Failed = (aiohttp.ClientError, asyncio.TimeoutError)
"""What a request raises that has no answer, or not the whole of it."""


class Requests:
    """The four kinds of requests, over one way to send them."""

    send: Callable[..., Awaitable[Any]]

    async def get(self, path: str, query: Query = NO_QUERY, *, wait: float = 0.0) -> Any:
        """Reads. With `wait`, the server may hold the request for so many seconds until there is news."""
        return await self.send("GET", path, query, wait=wait)

    async def put(
        self, path: str, body: object = None, query: Query = NO_QUERY, *, headers: Headers = NO_HEADERS, wait: float = 0.0
    ) -> Any:
        """Writes what the address names."""
        return await self.send("PUT", path, query, body=body, headers=headers, wait=wait)

    async def post(
        self, path: str, body: object = None, query: Query = NO_QUERY, *, headers: Headers = NO_HEADERS, wait: float = 0.0
    ) -> Any:
        """Writes, under an idempotency key of its own where the headers have none."""
        return await self.send("POST", path, query, body=body, headers=headers, wait=wait)

    async def delete(self, path: str, query: Query = NO_QUERY, *, headers: Headers = NO_HEADERS) -> Any:
        """Removes what the address names."""
        return await self.send("DELETE", path, query, headers=headers)


class Transport(Requests):
    """Sends requests with one token."""

    def __init__(
        self, session: aiohttp.ClientSession, base_url: str, token: TokenSource, *, deadline: float = DEADLINE
    ) -> None:
        self._session = session
        self._base_url = base_url
        self._token = token
        self._deadline = deadline

    async def send(
        self,
        method: str,
        path: str,
        query: Query = NO_QUERY,
        *,
        body: object = None,
        headers: Headers = NO_HEADERS,
        wait: float = 0.0,
    ) -> Any:
        """Sends a request until it is answered, refused, or its deadline has passed. Returns the body of the answer."""
        if wait > 0:
            query = {**query, "wait_ms": round(wait * 1000)}
        sent = dict(headers)
        if method == "POST":
            sent.setdefault("Idempotency-Key", str(uuid.uuid4()))
        if body is not None:
            sent["Content-Type"] = "application/json"
        data = None if body is None else json.dumps(body).encode()
        url = self._url(path, query)
        begun = time.monotonic()
        until = begun + self._deadline + wait
        backoff = Backoff()
        waiting_since: float | None = None
        is_told = False
        while True:
            timeout = max(min(wait + ATTEMPT, until - time.monotonic()), 0.001)
            sent["Authorization"] = f"Bearer {await self._token()}"
            try:
                async with self._session.request(
                    method,
                    url,
                    data=data and io.BytesIO(data),  # it warns of large bytes
                    headers=sent,
                    # Redirects are not followed: the token goes to the server that was named.
                    allow_redirects=False,
                    timeout=aiohttp.ClientTimeout(total=timeout),
                ) as response:
                    content = await response.read()
            except Failed as error:
                failure: RouterError = self._unreachable(error, timeout)
            except ValueError as error:
                raise RouterError(f"the request cannot be sent: {error}") from error
            else:
                if is_success(response):
                    return self._body(content)
                failure = refusal(response, content)
                if response.status not in AGAIN:
                    raise failure
            delay = backoff.next_delay(failure.retry_after)
            now = time.monotonic()
            if now + delay >= until:
                raise failure
            # What the server was asked to wait is no wait for the server.
            waiting_since = waiting_since or (now if wait > 0 else begun)
            if not is_told and now + delay > waiting_since + SAID_AFTER:
                # Said before the pause, which may be the last one.
                log.warning("%s; trying again for %.0f s", failure.detail, until - now)
                is_told = True
            log.debug("%s %s is sent again in %.1f s: %s", method, path, delay, failure)
            await asyncio.sleep(delay)

    @asynccontextmanager
    async def stream(self, path: str, query: Query, *, silence: float) -> AsyncIterator[aiohttp.ClientResponse]:
        """Opens a response that is read as it arrives. It breaks after so many seconds of silence."""
        async with self._session.get(
            self._url(path, query),
            headers={"Authorization": f"Bearer {await self._token()}", "Accept": "text/event-stream"},
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=ATTEMPT, sock_read=silence),
        ) as response:
            yield response

    def _url(self, path: str, query: Query) -> URL:
        """An address as it is sent: a quoted ``/`` in a key stays quoted."""
        written = urlencode(_written(query))
        address = f"{self._base_url}{path}?{written}" if written else f"{self._base_url}{path}"
        try:
            url = URL(address, encoded=True)
        except ValueError as error:
            raise RouterError(f"the request cannot be sent: {error}") from error
        if url.scheme not in ("http", "https") or not url.host:
            raise RouterError(
                f"`{self._base_url}` is no address of a server", hint="an address begins with http:// or https://"
            )
        return url

    def _body(self, content: bytes) -> Any:
        try:
            return json.loads(content) if content else None
        except ValueError as error:
            raise RouterError(
                f"{self._base_url} answered with something else than JSON", hint="is it the address of `irq serve`?"
            ) from error

    def _unreachable(self, error: Exception, timeout: float) -> Unavailable:
        what = str(error) or f"none within {timeout:.0f} s"
        return Unavailable(
            f"no answer from {self._base_url}: {what}",
            hint="start the server with `irq serve`, or check IRQ_SERVER",
        )


def is_success(response: aiohttp.ClientResponse) -> bool:
    """Whether the server did what was asked. A redirect does nothing, and is none."""
    return 200 <= response.status < 300


def refusal(response: aiohttp.ClientResponse, content: bytes) -> RouterError:
    """The error of a response that is no success."""
    try:
        problem = json.loads(content)
    except ValueError:
        problem = None
    if not isinstance(problem, Mapping):
        problem = {"detail": f"the server answered {response.status} {response.reason}"}
    error = RouterError.of_problem(response.status, problem)
    error.retry_after = _seconds(response.headers.get("Retry-After"))
    return error


def _written(query: Query) -> dict[str, str]:
    """Parameters as a query has them. Those without a value are left out."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in query.items()
        if value is not None
    }


def _seconds(retry_after: str | None) -> float | None:
    try:
        return float(retry_after) if retry_after else None
    except ValueError:
        return None
