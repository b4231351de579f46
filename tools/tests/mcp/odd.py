"""A server that does what no real one would: it speaks the protocol by hand, a message a line."""

import json
import os
import sys
import time

lates = 0
waiting = {}


def log(line: str) -> None:
    with open(os.environ["LOG"], "a") as file:
        file.write(line + "\n")


def say(message: dict) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(id: int, text: str) -> None:
    say({"id": id, "result": {"content": [{"type": "text", "text": text}]}})


def call(name: str, id: int) -> None:
    global lates
    if name == "plain":
        answer(id, "plain")
    elif name == "noise":
        for line in ["", "hello", "{", "[]", '{"jsonrpc": "2.0"}', '{"jsonrpc": "2.0", "id": 999, "result": {}}', "\xff"]:
            sys.stdout.write(line + "\n")
        say({"method": "notifications/progress", "params": {"progressToken": 12345, "progress": 1}})
        answer(id, "after the noise")
    elif name == "huge":
        answer(id, "x" * 200_000)
    elif name == "flood":
        for number in range(20_000):
            sys.stderr.write(f"line {number} of very many that nobody reads\n")
        sys.stderr.flush()
        answer(id, "flooded")
    elif name == "die":
        sys.stderr.write("last word\n")
        sys.stderr.flush()
        os._exit(1)
    elif name == "strange":
        say({"id": id, "result": {"weather": "fine"}})
    elif name == "hologram":
        say({"id": id, "result": {"content": [
            {"type": "text", "text": "before"}, {"type": "hologram", "light": 3}, {"type": "text", "text": "after"}]}})
    elif name == "asks":
        waiting["asks"] = id
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        say({"id": "q", "method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": schema}})
    elif name == "refuse":
        say({"id": id, "error": {"code": -32000, "message": "not today"}})
    elif name == "deaf":
        log("deaf waits")
        time.sleep(1000)
    else:
        waiting[id] = name
        lates += name == "late"
        log(f"{name} waits" + (" again" if lates > 1 else ""))


def cancelled(id: int) -> None:
    name = waiting.pop(id, None)
    if name == "crossing":
        answer(id, "crossed")
    elif name == "obedient":
        say({"id": id, "error": {"code": 0, "message": "Request cancelled"}})
    elif name == "late":
        waiting["late"] = (id, time.monotonic() + 1)


def finish_late() -> None:
    if "late" in waiting and waiting["late"][1] < time.monotonic():
        answer(waiting.pop("late")[0], "too late")


def handle(message: dict) -> None:
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        info = {"name": "odd", "version": "1"}
        say({"id": id, "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}})
    elif method == "ping":
        say({"id": id, "result": {}})
    elif method == "tools/list":
        names = ["plain", "noise", "huge", "flood", "die", "strange", "refuse", "deaf", "late", "crossing", "obedient"]
        names += ["hologram", "asks"]
        say({"id": id, "result": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}})
    elif method == "tools/call":
        call(message["params"]["name"], id)
    elif id == "q":
        answer(waiting.pop("asks"), "was told " + message["result"]["action"])
    elif method == "notifications/cancelled":
        cancelled(message["params"]["requestId"])


def main() -> None:
    import select

    log(f"started {os.getpid()}")
    buffer = b""
    while True:
        ready, _, _ = select.select([0], [], [], 0.02)
        finish_late()
        if not ready:
            continue
        read = os.read(0, 65536)
        if not read:
            return
        *lines, buffer = (buffer + read).split(b"\n")
        for line in lines:
            handle(json.loads(line))


main()
