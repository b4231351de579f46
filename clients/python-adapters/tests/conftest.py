"""What the tests share: the real program, a server for each test, and an event loop."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from interrupt_router import Operator, Router

REPOSITORY = Path(__file__).parents[3]
BINARY = Path(os.environ.get("IRQ_BINARY") or REPOSITORY / "target" / "debug" / "irq")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails a test that connects to another machine: no framework may reach a model or a collector of traces."""
    connect = socket.socket.connect

    def checked(self: socket.socket, address: Any) -> None:
        assert self.family == socket.AF_UNIX or address[0] in ("127.0.0.1", "::1"), f"a connection to {address}"
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", checked)
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")


@pytest.fixture
def binary(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program. A test that needs it fails where it is missing."""
    for name in ("IRQ_SERVER", "IRQ_TOKEN", "IRQ_TOKEN_FILE", "IRQ_STORE"):
        monkeypatch.delenv(name, raising=False)
    assert BINARY.is_file(), f"build it with `cargo build -p interrupt-router`, or set IRQ_BINARY: {BINARY} is missing"
    return BINARY


@pytest.fixture
async def router(binary: Path, tmp_path: Path) -> AsyncIterator[Router]:
    """A router with a server of its own, whose store is in PostgreSQL where the tests are to prove the same of it."""
    store = str(tmp_path / "irq.db")
    if os.environ.get("IRQ_TEST_IN") == "postgres":
        store = f"{os.environ['IRQ_TEST_POSTGRES']}?schema=client_{secrets.token_hex(8)}"
    async with Router.local(store, binary=binary) as router:
        yield router


@pytest.fixture
async def ann(router: Router) -> AsyncIterator[Operator]:
    """A supervisor."""
    async with router.operator("ann", "supervisor") as ann:
        yield ann


@pytest.fixture
async def saver(tmp_path: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """Where the graphs of a test keep their checkpoints."""
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "graph.db")) as saver:
        yield saver
