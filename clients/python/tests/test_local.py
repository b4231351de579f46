from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import children_of, gone, until

from interrupt_router import Operator, ServerFailed
from interrupt_router.local import LocalServer

pytestmark = pytest.mark.anyio

LONG_LIVED = """
import asyncio, signal, sys
from interrupt_router import Router

# A shell lets what it starts in the background ignore this.
signal.signal(signal.SIGINT, signal.default_int_handler)

async def main():
    async with Router.local(sys.argv[1]) as router:
        print(router.server.address, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_it_serves_and_makes_tokens(server: LocalServer) -> None:
    assert server.link.startswith(f"{server.address}/?launch=")
    async with Operator(server.address, server.person_token("ann", "reviewer")) as ann:
        caller = await ann.whoami()
    assert (caller.name, caller.role) == ("ann", "reviewer")


async def test_it_is_started_again_on_the_same_address(server: LocalServer) -> None:
    async with Operator(server.address, server.person_token("ann", "reviewer")) as ann:
        before = server_process(server)
        os.kill(before, signal.SIGKILL)
        await until(lambda: gone(before))
        assert (await ann.whoami()).name == "ann"
        assert server_process(server) != before


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
async def test_it_ends_with_the_process_that_started_it(how: signal.Signals, binary: Path, tmp_path: Path) -> None:
    script = tmp_path / "long_lived.py"
    script.write_text(LONG_LIVED)
    environment = {**os.environ, "IRQ_BINARY": str(binary)}
    with subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "irq.db")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"http://127.0.0.1:")
        (guard,) = children_of(process.pid)
        (serving,) = children_of(guard)
        process.send_signal(how)
        process.wait(20)
    await until(lambda: gone(guard) and gone(serving))


async def test_a_server_that_cannot_start_says_why(binary: Path, tmp_path: Path) -> None:
    (tmp_path / "irq.db").write_text("this is no database, and long enough to be taken for one" * 50)
    server = LocalServer(binary=binary, store=tmp_path / "irq.db")
    with pytest.raises(ServerFailed, match="irq"):
        await server.start()


def server_process(server: LocalServer) -> int:
    assert server._guard is not None
    (serving,) = children_of(server._guard.pid)
    return serving
