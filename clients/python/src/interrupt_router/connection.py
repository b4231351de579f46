"""The connection to a server, which clients with different tokens share."""

from __future__ import annotations

import os
import ssl
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from .settings import CA_CERTIFICATE
from .transport import DEADLINE, TokenSource, Transport


class Connection:
    """A pool of connections to one server. It is made and closed in one event loop."""

    def __init__(self, base_url: str, *, deadline: float = DEADLINE, trusts_environment: bool = True) -> None:
        authorities = os.environ.get(CA_CERTIFICATE)
        self._base_url = base_url
        self._deadline = deadline
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                # Each run holds a request that waits, so a limit here would let runs wait for each other.
                limit=0,
                ssl=ssl.create_default_context(cafile=authorities) if authorities else True,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            # `trust_env` would take credentials from ~/.netrc, too, and refuse to send the token beside them.
            proxy=_proxy(base_url) if trusts_environment else None,
        )

    def transport(self, token: TokenSource) -> Transport:
        """Requests with a token."""
        return Transport(self._session, self._base_url, token, deadline=self._deadline)

    async def close(self) -> None:
        """Closes all connections."""
        await self._session.close()


def _proxy(base_url: str) -> str | None:
    """The proxy that the environment names for a server: HTTP_PROXY, HTTPS_PROXY and NO_PROXY."""
    try:
        url = URL(base_url)
    except ValueError:
        return None  # the first request says what is wrong with it
    if url.host is None or proxy_bypass(f"{url.host}:{url.port}"):
        return None
    return getproxies().get(url.scheme)


def fixed(token: str) -> TokenSource:
    """A token that stays the same."""

    async def source() -> str:
        return token

    return source
