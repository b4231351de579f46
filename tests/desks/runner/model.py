"""The model of the desks: a server that speaks as OpenAI's does, and answers what a case says."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TICKET = re.compile(r"ticket-[0-9a-z-]+")


@dataclass
class Script:
    """What the model says of one ticket, and what it was told."""

    answers: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """The answers by the field of the route, in the order of the calls. After those its answers fit."""
    told: list[tuple[str, str]] = field(default_factory=list)
    """The field that it was to fill in, and the last message, for each call."""


class Server(ThreadingHTTPServer):
    """Has nothing to say of a desk that is killed in the middle of a call."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Model:
    """One server for all tickets of all desks. What it writes names the ticket, so that the next call can be told."""

    def __init__(self, only: Mapping[str, str]) -> None:
        self._only = only
        self._scripts: dict[str, Script] = {}
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                text, status = model.answer(call)
                is_streamed = call.get("stream", False)
                body = _streamed(text) if is_streamed else _whole(text)
                self.send_response(status)
                self.send_header("Content-Type", "text/event-stream" if is_streamed else "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """Where it is, as desks are told."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def script(self, ticket: str, answers: Mapping[str, Sequence[Any]]) -> Script:
        """Says what it answers about a ticket. Where nothing is said, its answer fits."""
        return self._scripts.setdefault(ticket, Script(answers))

    def close(self) -> None:
        """Ends it."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, call: Mapping[str, Any]) -> tuple[str, int]:
        """The text of its answer to a call, and its status."""
        said = "\n".join(str(message.get("content")) for message in call["messages"])
        known = [name for name in TICKET.findall(said) if name in self._scripts]
        if not known:
            return f"no message names a ticket: {said}", 400
        ticket = known[-1]
        fields = list(call["response_format"]["json_schema"]["schema"]["properties"])
        # A desk whose front asks a model where a ticket begins shows all routes: there it always begins with the customer.
        chosen = fields[0] if len(fields) == 1 else "inquire"
        script = self._scripts[ticket]
        before = sum(field == chosen for field, _ in script.told)
        script.told.append((chosen, str(call["messages"][-1]["content"])))
        given = script.answers.get(chosen, ())
        request = given[before] if before < len(given) else {self._only[chosen]: f"{chosen} of {ticket}"}
        others = {name: None for name in fields if name != chosen}
        return json.dumps({chosen: request, **others}), 200


USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
HEAD = {"id": "chatcmpl-1", "created": 1, "model": "double"}


def _whole(text: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return json.dumps({**HEAD, "object": "chat.completion", "choices": [choice], "usage": USAGE}).encode()


def _streamed(text: str) -> bytes:
    said: dict[str, Any] = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
    ended: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": "stop"}
    chunks: list[dict[str, Any]] = [{"choices": [said]}, {"choices": [ended]}, {"choices": [], "usage": USAGE}]
    events = [json.dumps({**HEAD, "object": "chat.completion.chunk", **chunk}) for chunk in chunks]
    return "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode()
