"""Where the server is and who asks, from arguments and the environment."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import RouterError, Unauthenticated

SERVER = "IRQ_SERVER"
TOKEN = "IRQ_TOKEN"
TOKEN_FILE = "IRQ_TOKEN_FILE"
CA_CERTIFICATE = "IRQ_CA_CERTIFICATE"
"""The file of authorities to trust."""
BINARY = "IRQ_BINARY"


def server_url(given: str | None) -> str:
    """The address of the server."""
    url = given or os.environ.get(SERVER)
    if not url:
        raise RouterError(
            "no server is named", hint=f"give its address, set {SERVER}, or start one with `Router.local()`"
        )
    return url.rstrip("/")


def token(given: str | None) -> str:
    """The token for it."""
    if found := given or os.environ.get(TOKEN):
        return found
    if path := os.environ.get(TOKEN_FILE):
        return Path(path).read_text().strip()
    raise Unauthenticated(
        "no token is given",
        hint=f"make one with `irq token create --role worker --workflow NAME --name NAME`, and set {TOKEN}",
    )
