"""A desk and its server, over a store of their own: started, killed, and started again."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import signal
import subprocess
import time
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from interrupt_router import Operator

REPOSITORY = Path(__file__).parents[3]
STARTS_WITHIN = 30.0
STORE = "irq.db"
IN_POSTGRES = os.environ.get("IRQ_TEST_IN") == "postgres"
"""Whether the stores are in PostgreSQL: the same cases, of another store."""


@dataclass(frozen=True)
class DeskProgram:
    """A desk, as its file says it is started."""

    name: str
    serve: list[str]
    """The server. A desk that is a server of its own is nothing else."""
    work: list[str] | None
    """The worker beside it."""
    stand_in: list[str] | None
    """The server that serves people while a desk that is its own one is dead."""
    environment: dict[str, str]
    lease: float
    """For how many seconds a ticket stays with a worker that has died."""
    same_key_pays_once: bool
    """Whether the bank takes a key that it knows as the same payment; else each time that it is asked is one."""
    hand_in: dict[str, Any]
    cannot: dict[str, str]
    """The cases that it cannot pass, each with the reason."""


class Installation:
    """A server and a desk. `ann` is a supervisor there, `bob` a reviewer."""

    def __init__(self, desk: DeskProgram, folder: Path, model: str, tokens: Mapping[str, str], policy: str | None) -> None:
        self.desk = desk
        self._folder = folder
        self._tokens = tokens
        self._names = {"folder": str(folder), "model": model, "token": tokens["desk"]}
        self._policy: list[str] = []
        if policy is not None:
            (folder / "policy.toml").write_text(policy)
            self._policy = ["--policy", str(folder / "policy.toml")]
        self._listen = "127.0.0.1:0"
        self._server: Process | None = None
        self._worker: Process | None = None
        self._stands_in = False
        self._lease_ends = 0.0
        self.people: dict[str, Operator] = {}
        self._http = httpx.AsyncClient(timeout=30)

    async def start(self) -> None:
        """Starts both, and knows the people."""
        self._names["store"] = await asyncio.to_thread(_store, self._folder)
        await self.start_server()
        for name in ("ann", "bob"):
            self.people[name] = await Operator(self._address, self._tokens[name]).__aenter__()
        await self.start_worker()
        await self._registered()

    async def close(self) -> None:
        """Ends both, and everything that was opened."""
        for person in self.people.values():
            await person.__aexit__(None, None, None)
        await self._http.aclose()
        await self.kill_worker()
        await self.kill_server()

    async def start_server(self) -> None:
        """Starts the server, the second time where it was before."""
        if self._server is None:
            await self._serve(self.desk.serve)

    async def serve_people(self) -> None:
        """Starts the server that stands in for a desk that was its own one, and is dead."""
        if self._server is None and self.desk.stand_in is not None:
            await self._serve(self.desk.stand_in)
            self._stands_in = True

    async def start_worker(self) -> None:
        """Starts the worker: a program beside the server, or the server itself.

        Not before the lease of a dead one is over: its end wakes no worker that waits for tickets by then.
        """
        if self.desk.work is None:
            if self._stands_in:
                await self.kill_server()
            await self.start_server()
        elif self._worker is None:
            await asyncio.sleep(max(0.0, self._lease_ends - time.monotonic()))
            self._worker = await self._process(self.desk.work, self._folder / "worker.log", self.desk.environment)

    async def kill_server(self) -> None:
        """Kills the server: nothing in it can prepare for that."""
        await _kill(self._server)
        self._server, self._stands_in = None, False

    async def kill_worker(self) -> None:
        """Kills the worker. A desk that is its own server dies with it."""
        if self.desk.work is None:
            await self.kill_server()
        await _kill(self._worker)
        self._worker = None
        self._lease_ends = time.monotonic() + self.desk.lease

    async def hand_in(self, ticket: str, given: Mapping[str, Any]) -> str:
        """Hands a ticket in; returns the id of its run."""
        how = self.desk.hand_in
        value = json.dumps(given) if how["as_text"] else given
        body = {how["member"]: value, "thread_id": ticket, **how.get("more", {})}
        return str((await self._call("POST", how["path"], how["as"], body))["run_id"])

    async def result_of(self, run: str) -> Any:
        """What came of a run, as the last checkpoint has it."""
        kept = await self._call("GET", f"/v1/runs/{run}/checkpoints?limit=500", "ann")
        result = kept["checkpoints"][-1]["state"].get("result")
        return json.loads(result) if isinstance(result, str) else result

    async def history_of(self, run: str) -> list[dict[str, Any]]:
        """The audit of a run."""
        rows: list[dict[str, Any]] = (await self._call("GET", f"/v1/history?run_id={run}&limit=500", "ann"))["rows"]
        return rows

    async def catalogue(self) -> dict[str, Any]:
        """What the desk has registered."""
        found: dict[str, Any] = await self._call("GET", "/v1/workflows/desk", "desk")
        return found

    def payments(self, order: int) -> list[str]:
        """The keys with which the bank has paid an order back."""
        written = [
            (self._folder / name).read_text() for name in ("server.log", "ledger") if (self._folder / name).exists()
        ]
        keys = re.findall(rf"the bank pays \d+ cents for order {order} \((\S+)\)", "".join(written))
        return sorted(set(keys)) if self.desk.same_key_pays_once else keys

    def logs(self) -> str:
        """The ends of what both have written."""
        logs = [self._folder / "server.log", self._folder / "worker.log"]
        return "".join(f"-- {log.name}\n{log.read_text()[-3000:]}" for log in logs if log.exists())

    async def _registered(self) -> None:
        """Waits until the worker has registered its workflow: only then a ticket can be handed in."""
        async with asyncio.timeout(STARTS_WITHIN):
            while (
                self._worker is not None and (await self._send("GET", "/v1/workflows/desk", "desk")).status_code != 200
            ):
                assert self._worker.returncode is None, self.logs()
                await asyncio.sleep(0.02)

    @property
    def _address(self) -> str:
        return f"http://{self._listen}"

    async def _call(self, method: str, path: str, name: str, body: Any = None) -> Any:
        reply = await self._send(method, path, name, body)
        assert reply.is_success, f"{method} {path}: {reply.text}"
        return reply.json()

    async def _serve(self, command: list[str]) -> None:
        self._names["listen"] = self._listen
        log = self._folder / "server.log"
        known = len(log.read_text()) if log.exists() else 0
        environment = self.desk.environment if self.desk.work is None else {}
        self._server = await self._process([*command, *self._policy], log, environment)
        async with asyncio.timeout(STARTS_WITHIN):
            while not (found := re.search(r"Serving on http://([\d.]+:\d+)\. ", log.read_text()[known:])):
                assert self._server.returncode is None, f"{command[0]} has ended:\n{log.read_text()}"
                await asyncio.sleep(0.02)
        self._listen = found[1]
        self._names["address"] = self._address

    async def _send(self, method: str, path: str, name: str, body: Any = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self._tokens[name]}"}
        return await self._http.request(method, self._address + path, json=body, headers=headers)

    async def _process(self, command: list[str], log: Path, environment: Mapping[str, str]) -> Process:
        places = {"repository": str(REPOSITORY), **PROGRAMS, **self._names}
        filled = {name: value.format(**places) for name, value in environment.items()}
        with log.open("ab") as output:
            return await asyncio.create_subprocess_exec(
                *(word.format(**places) for word in command),
                stdin=DEVNULL, stdout=output, stderr=output, cwd=self._folder,
                env={**_own_environment(), "DESK_LEASE": str(self.desk.lease), **filled},
            )  # fmt: skip


async def _kill(process: Process | None) -> None:
    if process is not None and process.returncode is None:
        process.send_signal(signal.SIGKILL)
        await process.wait()


def prepare(folder: Path) -> dict[str, str]:
    """Makes a store that knows the people and the worker, for all desks to begin with; returns their tokens."""
    roles = {"ann": ["supervisor"], "bob": ["reviewer"], "desk": ["worker", "--workflow", "desk"]}
    tokens = {}
    for name, role in roles.items():
        create = ["token", "create", "--name", name, "--role", *role, "--store", str(folder / STORE), "--json"]
        made = subprocess.run([PROGRAMS["irq"], *create], check=True, capture_output=True, env=_own_environment())
        tokens[name] = str(json.loads(made.stdout)["secret"])
    return tokens


def _store(folder: Path) -> str:
    """The store of the folder, where it is, or copied into a schema of its own."""
    file = str(folder / STORE)
    if not IN_POSTGRES:
        return file
    place = f"{os.environ['IRQ_TEST_POSTGRES']}?schema=desk_{secrets.token_hex(8)}"
    subprocess.run([PROGRAMS["irq"], "store", "copy", file, place], check=True, capture_output=True, env=_own_environment())
    return place


def _programs() -> dict[str, str]:
    irq = Path(os.environ.get("IRQ_BINARY") or REPOSITORY / "target" / "debug" / "irq").absolute()
    desk = Path(os.environ.get("DESK_BINARY") or irq.with_name("desk")).absolute()
    return {"irq": str(irq), "desk": str(desk), "python": os.environ.get("PYTHON", "python3"), "node": "node"}


PROGRAMS = _programs()


def _own_environment() -> dict[str, str]:
    """Nothing that would lead a desk to another server or another model."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("IRQ_", "OPENAI_", "DESK_"))}
