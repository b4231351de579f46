from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer, unused_port

from interrupt_router import Conflict, NotFound, RateLimited, RouterError, Unavailable
from interrupt_router.connection import Connection, fixed
from interrupt_router.transport import Transport

pytestmark = pytest.mark.anyio

HANGS_UP = None
"""An answer that never comes: the connection ends."""

Answer: TypeAlias = "tuple[int, dict[str, str], bytes] | None"


class Server:
    """Answers requests over the network from a list, the last one for ever, and keeps them."""

    def __init__(self, *answers: Answer) -> None:
        self.requests: list[web.Request] = []
        self._answers = list(answers)

    async def answer(self, request: web.Request) -> web.Response:
        self.requests.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if answer is HANGS_UP:
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        status, headers, body = answer
        return web.Response(status=status, headers=headers, body=body)

    @asynccontextmanager
    async def transport(self, deadline: float = 60.0) -> AsyncIterator[Transport]:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self.answer)
        async with TestServer(application) as server, connected(str(server.make_url("")), deadline) as transport:
            yield transport


@asynccontextmanager
async def connected(address: str, deadline: float = 60.0) -> AsyncIterator[Transport]:
    connection = Connection(address.rstrip("/"), deadline=deadline)
    yield connection.transport(fixed("irq_secret"))
    await connection.close()


def said(status: int, body: object) -> Answer:
    return status, {"Content-Type": "application/json"}, json.dumps(body).encode()


def problem(status: int, code: str, **headers: str) -> Answer:
    return status, headers, json.dumps({"code": code, "detail": code}).encode()


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits between attempts, which take no time."""
    waits: list[float] = []
    sleep = asyncio.sleep

    async def no_time(seconds: float) -> None:
        waits.append(seconds)
        await sleep(0)

    monkeypatch.setattr("interrupt_router.transport.asyncio.sleep", no_time)
    return waits


async def test_a_write_is_sent_again_with_the_same_key(slept: list[float]) -> None:
    server = Server(
        HANGS_UP,
        problem(503, "draining", **{"Retry-After": "2"}),
        problem(429, "rate-limited", **{"Retry-After": "3"}),
        said(201, {"number": 1}),
    )
    async with server.transport() as transport:
        assert await transport.post("/v1/work/run_1/checkpoints", {"state": 1}, {"epoch": 3}) == {"number": 1}
    assert len(server.requests) == 4
    assert len({request.headers["Idempotency-Key"] for request in server.requests}) == 1
    assert {request.query_string for request in server.requests} == {"epoch=3"}
    assert {request.headers["Authorization"] for request in server.requests} == {"Bearer irq_secret"}
    assert slept[1] >= 2.0
    assert slept[2] >= 3.0


async def test_two_writes_have_two_keys() -> None:
    server = Server(said(200, {}))
    async with server.transport() as transport:
        await transport.post("/a", {})
        await transport.post("/a", {})
    first, second = server.requests
    assert first.headers["Idempotency-Key"] != second.headers["Idempotency-Key"]


@pytest.mark.parametrize(("status", "code", "kind"), [(404, "run-not-found", NotFound), (409, "new", Conflict)])
async def test_a_refusal_is_not_sent_again(status: int, code: str, kind: type[RouterError]) -> None:
    server = Server(problem(status, code))
    async with server.transport() as transport:
        with pytest.raises(kind):
            await transport.get("/v1/runs/x")
    assert len(server.requests) == 1


@pytest.mark.usefixtures("slept")
async def test_a_deadline_ends_the_attempts() -> None:
    server = Server(problem(429, "rate-limited", **{"Retry-After": "30"}))
    async with server.transport(deadline=10) as transport:
        with pytest.raises(RateLimited):
            await transport.get("/v1/runs")
    assert len(server.requests) == 1
    async with connected(f"http://127.0.0.1:{unused_port()}", deadline=0.0) as transport:
        with pytest.raises(Unavailable, match="no answer from http://127") as failed:
            await transport.get("/v1/runs")
    assert failed.value.hint is not None


@pytest.mark.usefixtures("slept")
@pytest.mark.parametrize(("retry_after", "told"), [("0.4", 0), ("1.1", 1)])
async def test_a_server_that_is_away_for_more_than_a_second_is_told_of_once(
    retry_after: str, told: int, caplog: pytest.LogCaptureFixture
) -> None:
    away = problem(503, "draining", **{"Retry-After": retry_after})
    async with Server(away, away, said(200, {})).transport() as transport:
        await transport.get("/v1/runs")
    warned = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(warned) == told
    for message in warned:
        assert re.fullmatch(r"draining; trying again for (59|60) s", message)


async def test_a_wait_is_asked_for_in_milliseconds() -> None:
    server = Server((204, {}, b""))
    async with server.transport() as transport:
        assert await transport.post("/leases", {}, wait=30) is None
        assert await transport.get("/questions", {"known": None}, wait=1.5) is None
    assert [request.query_string for request in server.requests] == ["wait_ms=30000", "wait_ms=1500"]


async def test_an_attempt_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interrupt_router.transport.ATTEMPT", 0.1)

    async def never_answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(-1)
        writer.close()

    hanging = await asyncio.start_server(never_answers, "127.0.0.1", 0)
    async with hanging, connected("http://127.0.0.1:{1}".format(*hanging.sockets[0].getsockname()), 0.3) as transport:
        with pytest.raises(Unavailable, match="none within"):
            await transport.get("/v1/runs")


async def test_a_key_reaches_the_server_as_it_was_quoted() -> None:
    server = Server(said(200, {}))
    async with server.transport() as transport:
        await transport.put("/questions/a%2Fb%20%3F", {}, {"epoch": 1})
    assert server.requests[0].raw_path == "/questions/a%2Fb%20%3F?epoch=1"


async def test_a_redirect_gets_no_token() -> None:
    server = Server((307, {"Location": "/elsewhere"}, b""))
    async with server.transport() as transport:
        with pytest.raises(RouterError, match="307"):
            await transport.get("/v1/runs")
    assert len(server.requests) == 1


async def test_an_answer_that_is_no_problem_document_is_told() -> None:
    async with Server((418, {}, b"teapot")).transport() as transport:
        with pytest.raises(RouterError, match="418"):
            await transport.get("/")
    async with Server((200, {}, b"<html>")).transport() as transport:
        with pytest.raises(RouterError, match="something else than JSON"):
            await transport.get("/")


@pytest.mark.parametrize("address", ["localhost:8080", "ftp://127.0.0.1", "http://", "http://[::1"])
async def test_what_is_no_address_of_a_server_is_told(address: str) -> None:
    async with connected(address) as transport:
        with pytest.raises(RouterError):
            await transport.get("/v1/runs")


async def test_a_token_that_no_header_can_have_is_told() -> None:
    async with Server(said(200, {})).transport() as transport:
        transport._token = fixed("a\nb")
        with pytest.raises(RouterError, match="cannot be sent"):
            await transport.get("/v1/runs")


async def test_credentials_of_other_programs_do_not_stand_in_for_the_token(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login ann password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    server = Server(said(200, {}))
    async with server.transport() as transport:
        await transport.get("/v1/runs")
    assert server.requests[0].headers["Authorization"] == "Bearer irq_secret"


async def test_the_environment_names_a_proxy_and_who_needs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = Server(said(200, {"by": "proxy"}))
    async with proxy.transport() as to_proxy:
        monkeypatch.setenv("http_proxy", to_proxy._base_url)
        monkeypatch.setenv("no_proxy", "inside.example")
        async with connected("http://outside.example") as outside:
            assert await outside.get("/v1/runs") == {"by": "proxy"}
        assert proxy.requests[0].headers["Host"] == "outside.example"
        async with connected("http://inside.example", deadline=0.0) as inside:
            with pytest.raises(Unavailable):
                await inside.get("/v1/runs")
    assert len(proxy.requests) == 1
