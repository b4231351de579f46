"""What the tests share: the real program, a server for each test, and an event loop."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from interrupt_router import Operator, Router
from interrupt_router.local import LocalServer

REPOSITORY = Path(__file__).parents[3]
BINARY = Path(os.environ.get("IRQ_BINARY") or REPOSITORY / "target" / "debug" / "irq")


def store_for(folder: Path) -> str:
    """Where a test has its store: in its folder, or the same test over PostgreSQL in a schema of its own."""
    if os.environ.get("IRQ_TEST_IN") != "postgres":
        return str(folder / "irq.db")
    return f"{os.environ['IRQ_TEST_POSTGRES']}?schema=client_{secrets.token_hex(8)}"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def binary(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program that is tested. A test that needs it fails where it is missing."""
    for name in ("IRQ_SERVER", "IRQ_TOKEN", "IRQ_TOKEN_FILE", "IRQ_STORE"):
        monkeypatch.delenv(name, raising=False)
    assert BINARY.is_file(), f"build it with `cargo build -p interrupt-router`, or set IRQ_BINARY: {BINARY} is missing"
    return BINARY


@pytest.fixture
async def server(binary: Path, tmp_path: Path) -> AsyncIterator[LocalServer]:
    """A server of its own for the test."""
    server = LocalServer(binary=binary, store=store_for(tmp_path))
    await server.start()
    yield server
    await server.close()


@pytest.fixture
async def router(binary: Path, tmp_path: Path) -> AsyncIterator[Router]:
    """A router with a server of its own."""
    async with Router.local(store_for(tmp_path), binary=binary) as router:
        yield router


@pytest.fixture
async def ann(router: Router) -> AsyncIterator[Operator]:
    """A supervisor."""
    async with router.operator("ann", "supervisor") as ann:
        yield ann
