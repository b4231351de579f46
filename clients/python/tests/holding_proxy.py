"""A server whose answer is on the way for longer than its client waits."""

from __future__ import annotations

import asyncio
from types import TracebackType

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer
from yarl import URL


class HoldingProxy:
    """Stands before a server, and holds back one answer: it has done what was asked, and its client does not know."""

    def __init__(self, target: str, held: str) -> None:
        self.held = held
        """The end of the address whose next answer is held back."""
        self.holds = asyncio.Event()
        self.passed: list[str] = []
        """The requests that came, in this order."""
        self._target = target
        self._may_end = asyncio.Event()
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._pass)
        self._server = TestServer(application)

    async def __aenter__(self) -> HoldingProxy:
        self._session = aiohttp.ClientSession(auto_decompress=False)
        await self._server.start_server()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._may_end.set()
        await self._server.close()
        await self._session.close()

    @property
    def address(self) -> str:
        return str(self._server.make_url("")).rstrip("/")

    async def _pass(self, request: web.Request) -> web.Response:
        self.passed.append(f"{request.method} {request.path}")
        url = URL(f"{self._target}{request.raw_path}", encoded=True)
        body = await request.read()
        try:
            async with self._session.request(request.method, url, headers=request.headers, data=body) as answer:
                response = web.Response(status=answer.status, body=await answer.read(), content_type=answer.content_type)
        except aiohttp.ClientError:
            # As the server does, which is gone.
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if request.path.endswith(self.held) and not self.holds.is_set():
            self.holds.set()
            await self._may_end.wait()
        return response
