from __future__ import annotations

import asyncio
from collections.abc import Callable

import httpx
import pytest

from interrupt_router import Conflict, NotFound, RateLimited, RouterError, Unavailable
from interrupt_router.connection import fixed
from interrupt_router.transport import Transport

pytestmark = pytest.mark.anyio

Answer = Callable[[httpx.Request], httpx.Response]


class Server:
    """Answers requests from a list, and keeps them."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.requests: list[httpx.Request] = []
        self._answers = list(answers)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def transport(self, deadline: float = 60.0) -> Transport:
        client = httpx.AsyncClient(transport=httpx.MockTransport(self), base_url="http://test")
        return Transport(client, fixed("irq_secret"), deadline=deadline)


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


def problem(status: int, code: str, **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"code": code, "detail": code}, headers=headers)


async def test_a_write_is_sent_again_with_the_same_key(slept: list[float]) -> None:
    server = Server(
        httpx.ConnectError("refused"),
        httpx.ReadError("reset"),
        problem(503, "draining", **{"Retry-After": "2"}),
        problem(429, "rate-limited", **{"Retry-After": "3"}),
        httpx.Response(201, json={"number": 1}),
    )
    assert await server.transport().post("/v1/work/run_1/checkpoints", {"state": 1}, epoch=3) == {"number": 1}
    assert len(server.requests) == 5
    assert len({request.headers["Idempotency-Key"] for request in server.requests}) == 1
    assert {request.url.query for request in server.requests} == {b"epoch=3"}
    assert {request.headers["Authorization"] for request in server.requests} == {"Bearer irq_secret"}
    assert slept[2] >= 2.0
    assert slept[3] >= 3.0


async def test_two_writes_have_two_keys() -> None:
    server = Server(httpx.Response(200, json={}))
    transport = server.transport()
    await transport.post("/a", {})
    await transport.post("/a", {})
    first, second = server.requests
    assert first.headers["Idempotency-Key"] != second.headers["Idempotency-Key"]


@pytest.mark.parametrize(("status", "code", "kind"), [(404, "run-not-found", NotFound), (409, "new", Conflict)])
async def test_a_refusal_is_not_sent_again(status: int, code: str, kind: type[RouterError]) -> None:
    server = Server(problem(status, code))
    with pytest.raises(kind):
        await server.transport().get("/v1/runs/x")
    assert len(server.requests) == 1


@pytest.mark.usefixtures("slept")
async def test_a_deadline_ends_the_attempts() -> None:
    server = Server(problem(429, "rate-limited", **{"Retry-After": "30"}))
    with pytest.raises(RateLimited):
        await server.transport(deadline=10).get("/v1/runs")
    assert len(server.requests) == 1
    with pytest.raises(Unavailable, match="refused") as failed:
        await Server(httpx.ConnectError("refused")).transport(deadline=0.0).get("/v1/runs")
    assert failed.value.hint is not None


async def test_a_wait_is_asked_for_in_milliseconds() -> None:
    server = Server(httpx.Response(204))
    assert await server.transport().post("/leases", {}, wait=30) is None
    assert await server.transport().get("/questions", wait=1.5, known=None) is None
    assert [request.url.query for request in server.requests] == [b"wait_ms=30000", b"wait_ms=1500"]
    assert server.requests[0].extensions["timeout"]["read"] > 30


async def test_an_answer_that_is_no_problem_document_is_told() -> None:
    with pytest.raises(RouterError, match="418"):
        await Server(httpx.Response(418, text="teapot")).transport().get("/")
