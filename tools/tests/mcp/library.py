"""A server that has resources and no tools, and says so by hand: a message a line."""

import json
import sys

PAGES = {None: (["a", "b"], "next"), "next": (["c"], None)}
CONTENTS = {
    "book://a": [{"uri": "book://a", "mimeType": "text/plain", "text": "once upon a time"}],
    "book://b": [{"uri": "book://b", "mimeType": "image/png", "blob": "aGVsbG8="}],
    "book://c": [{"uri": "book://c", "hologram": 3}, {"uri": "book://c", "text": "the end"}],
}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"resources": {}},
                "serverInfo": {"name": "library", "version": "1"}}
    if method == "resources/list":
        names, more = PAGES[params.get("cursor")]
        books = [{"uri": "book://" + name, "name": name, "mimeType": "text/plain", "description": "A book"}
                 for name in names]
        return {"resources": books} | ({"nextCursor": more} if more else {})
    if method == "resources/templates/list":
        return {"resourceTemplates": []}
    if method == "resources/read" and params["uri"] in CONTENTS:
        return {"contents": CONTENTS[params["uri"]]}
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message["method"], message.get("params") or {})
    reply = {"result": result} if result is not None else {"error": {"code": -32601, "message": "not here"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"]} | reply), flush=True)
