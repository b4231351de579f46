"""The connection to a server, which clients with different tokens share."""

from __future__ import annotations

import ssl

import httpx

from .settings import ca_certificate
from .transport import DEADLINE, TokenSource, Transport


class Connection:
    """A pool of connections to one server."""

    def __init__(self, base_url: str, *, deadline: float = DEADLINE, trusts_environment: bool = True) -> None:
        authorities = ca_certificate()
        self._deadline = deadline
        self._client = httpx.AsyncClient(
            base_url=base_url,
            verify=ssl.create_default_context(cafile=authorities) if authorities else True,
            # Redirects are not followed: the token goes to the server that was named.
            follow_redirects=False,
            # Each run holds a request that waits, so a limit here would let runs wait for each other.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=50),
            trust_env=trusts_environment,
        )

    def transport(self, token: TokenSource) -> Transport:
        """Requests with a token."""
        return Transport(self._client, token, deadline=self._deadline)

    async def close(self) -> None:
        """Closes all connections."""
        await self._client.aclose()


def fixed(token: str) -> TokenSource:
    """A token that stays the same."""

    async def source() -> str:
        return token

    return source
