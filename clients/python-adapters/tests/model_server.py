"""A model server with the interface of OpenAI, whose model says what a test wants it to say."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


class ModelServer(ThreadingHTTPServer):
    """Gives its answers in turn: the next one when the last was refused. It waits until it may answer."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = answers
        self.may_answer = threading.Event()
        self.bodies: list[dict[str, Any]] = []
        """What it was sent."""
        self._serving = threading.Thread(target=self.serve_forever, args=(0.05,))

    @property
    def address(self) -> str:
        """What clients call the base URL."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request."""
        self.bodies.append(body)
        self.may_answer.wait()
        refused = sum(message["role"] == "assistant" for message in body["messages"])
        message = {"role": "assistant", "content": json.dumps(self.answers[refused])}
        return {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}

    def __enter__(self) -> ModelServer:
        self._serving.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.may_answer.set()
        self.shutdown()
        self._serving.join()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = json.dumps(self.server.answer(body)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        """Stays silent."""
