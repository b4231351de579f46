"""A server whose replies cannot be read: argv says how it is reached (stdio, http with whole replies, sse), and with
which list of tools. The tool `reply` sends the text that it is given, with the id of the request in place of $ID."""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGES = {None: "two", "two": "three", "three": "three", "a": "b", "b": "a"}


def log(line):
    with open(os.environ["LOG"], "a") as file:
        file.write(line + "\n")


# Draft 4.
SCHEMA = {"type": "object", "properties": {"n": {"type": "number", "minimum": 0, "exclusiveMinimum": True}}}


def listed(cursor):
    names = [f"page_{cursor}"] if cursor else ["plain", "reply"]
    page = {"tools": [{"name": name, "inputSchema": SCHEMA} for name in names]}
    if os.environ.get("ENDLESS") == "same":
        page["nextCursor"] = PAGES[cursor]
    elif os.environ.get("ENDLESS") == "circle":
        page["nextCursor"] = {None: "a", "a": "b", "b": "a"}[cursor]
    return page


def replies(message):
    """The text that is sent for a message, or nothing."""
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        info = {"name": "unreadable", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "ping":
        result = {}
    elif method == "tools/list":
        result = listed(message.get("params", {}).get("cursor"))
    elif method == "tools/call" and message["params"]["name"] == "reply":
        log("called")
        return message["params"]["arguments"]["text"].replace("$ID", json.dumps(id))
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": "plain"}]}
    else:
        return None
    return json.dumps({"jsonrpc": "2.0", "id": id, "result": result})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_words):
        pass

    def do_GET(self):
        self.send_error(405)

    def do_POST(self):
        text = replies(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        if text is not None and text.startswith("HTTP "):
            return self.send_error(int(text[5:]))
        streamed = sys.argv[1] == "sse"
        body = "" if text is None else f"data: {text}\n\n" if streamed else text
        self.send_response(202 if text is None else 200)
        self.send_header("content-type", "text/event-stream" if streamed else "application/json")
        self.send_header("content-length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())


if sys.argv[1] == "stdio":
    for line in sys.stdin:
        text = replies(json.loads(line))
        if text is not None:
            print(text, flush=True)
else:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
