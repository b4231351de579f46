"""A server of this process: `irq serve`, started and ended with it."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import deque
from urllib.parse import urlsplit

from .backoff import Backoff
from .binary import find_binary
from .errors import ServerFailed
from .settings import SERVER, TOKEN, TOKEN_FILE
from .transport import TokenSource

log = logging.getLogger("interrupt_router.server")

# The server must end with this process, however that ends: by SIGKILL, too, which no handler sees. So a shell starts it and
# reads a pipe from this process. The kernel closes the pipe when this process ends, and the shell ends the server.
GUARD = """
"$@" </dev/null &
server=$!
exec 1>&- 2>&-
read -r _
kill -TERM $server 2>/dev/null
wait $server
"""

STARTS_WITHIN = 30.0
ENDS_WITHIN = 10.0
TOKEN_LIFETIME = 24 * 3600.0


class LocalServer:
    """`irq serve` on a free port of this machine. It is started again on the same port if it dies."""

    def __init__(
        self, *, binary: str | os.PathLike[str] | None = None, store: str | os.PathLike[str] | None = None
    ) -> None:
        self._binary = find_binary(binary)
        self._store = [] if store is None else ["--store", os.fspath(store)]
        self._tokens: dict[str, tuple[str, float]] = {}
        self._last_lines: deque[str] = deque(maxlen=20)
        self._guard: Process | None = None
        self._supervisor: asyncio.Task[None] | None = None
        self.address = ""
        """Where it listens, once it has started."""
        self.link = ""
        """Lets one person in to the page, once."""

    async def start(self) -> None:
        """Starts it, and waits until it listens."""
        await self._start("127.0.0.1:0")
        self._supervisor = asyncio.create_task(self._supervise())

    async def close(self) -> None:
        """Ends it, and waits until it has ended."""
        if self._supervisor is not None:
            self._supervisor.cancel()
            await asyncio.gather(self._supervisor, return_exceptions=True)
        await self._end()

    def worker_token(self, workflow: str) -> TokenSource:
        """Tokens of a worker of a workflow."""
        return lambda: self._token(f"worker {workflow}", "--role", "worker", "--workflow", workflow)

    def person_token(self, name: str, role: str) -> TokenSource:
        """Tokens of a person with a role."""
        return lambda: self._token(name, "--role", role)

    async def _token(self, name: str, *role: str) -> str:
        """A token that holds for half of its life at least. Only its digest outlives this process."""
        known, until = self._tokens.get(name, ("", 0.0))
        if time.monotonic() < until:
            return known
        arguments = ["token", "create", "--name", name, *role, "--lifetime", f"{TOKEN_LIFETIME:.0f}s", "--json"]
        process = await asyncio.create_subprocess_exec(
            self._binary, *arguments, *self._store, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env=_environment()
        )
        output, errors = await process.communicate()
        if process.returncode != 0:
            raise ServerFailed(f"`irq token create` failed: {errors.decode(errors='replace').strip()}")
        secret: str = json.loads(output)["secret"]
        self._tokens[name] = (secret, time.monotonic() + TOKEN_LIFETIME / 2)
        return secret

    async def _start(self, listen: str) -> None:
        serve = [str(self._binary), "serve", "--listen", listen, "--drain-timeout", "2s", *self._store]
        self._guard = await asyncio.create_subprocess_exec(
            "/bin/sh", "-c", GUARD, "sh", *serve,
            stdin=PIPE, stdout=PIPE, stderr=PIPE, env=_environment(),
            # Ctrl+C on the terminal is for this process, which ends the server when it is done with it.
            start_new_session=True,
        )  # fmt: skip
        assert self._guard.stdout is not None
        assert self._guard.stderr is not None
        self._errors = asyncio.create_task(self._read_errors(self._guard.stderr))
        try:
            line = await asyncio.wait_for(self._guard.stdout.readline(), STARTS_WITHIN)
        except asyncio.TimeoutError:
            line = b""
        if not line:
            await self._end()
            said = "\n".join(self._last_lines) or f"it said nothing for {STARTS_WITHIN:.0f} s"
            raise ServerFailed(f"`irq serve` did not start: {said}", hint="`irq doctor` says what is wrong")
        self.link = line.decode().strip()
        self.address = f"http://{urlsplit(self.link).netloc}"

    async def _supervise(self) -> None:
        """Starts the server again where it dies. Workers only see a request that takes longer."""
        backoff = Backoff()
        while True:
            assert self._guard is not None
            assert self._guard.stdout is not None
            await self._guard.stdout.read()
            log.warning("`irq serve` has ended and is started again")
            await self._end()
            try:
                await self._start(urlsplit(self.address).netloc)
                backoff.reset()
            except ServerFailed as error:
                log.warning("%s", error)
            await asyncio.sleep(backoff.next_delay())

    async def _end(self) -> None:
        guard = self._guard
        if guard is None:
            return
        assert guard.stdin is not None
        guard.stdin.close()
        try:
            await asyncio.wait_for(guard.wait(), ENDS_WITHIN)
        except asyncio.TimeoutError:
            # The guard leads its own session, so this reaches the server, too.
            os.killpg(guard.pid, signal.SIGKILL)
            await guard.wait()
        self._errors.cancel()
        await asyncio.gather(self._errors, return_exceptions=True)
        self._guard = None

    async def _read_errors(self, stream: asyncio.StreamReader) -> None:
        while line := await stream.readline():
            text = line.decode(errors="replace").rstrip()
            self._last_lines.append(text)
            log.debug("%s", text)


def _environment() -> dict[str, str]:
    """The environment without what would send `irq` to another server."""
    return {name: value for name, value in os.environ.items() if name not in (SERVER, TOKEN, TOKEN_FILE)}
