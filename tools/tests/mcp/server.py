"""A server with the tools that the tests need, on the Python SDK: `server.py stdio`, or `server.py http`, which
prints its port, any free one or PORT. With KEY and CERTIFICATE it speaks TLS. It writes what it does to the file named
by LOG, one line for each thing."""

import asyncio
import os
import socket
import sys

import anyio
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel

server = MCPServer("py", log_level="ERROR")


def log(line: str) -> None:
    with open(os.environ["LOG"], "a") as file:
        file.write(line + "\n")


async def tick(name: str, seconds: float, context: Context) -> None:
    """Works in steps of 20 ms, and tells of each."""
    steps = round(seconds / 0.02)
    for step in range(steps):
        log(f"{name} step {step}")
        await context.report_progress(step + 1, steps, "working")
        await asyncio.sleep(0.02)
    log(f"{name} done")


@server.tool()
async def work(name: str, seconds: float, context: Context) -> str:
    """Works for some seconds and heeds a cancellation."""
    try:
        await tick(name, seconds, context)
    except asyncio.CancelledError:
        log(f"{name} cancelled")
        raise
    return f"{name} has worked"


@server.tool()
async def ignore(name: str, seconds: float, context: Context) -> str:
    """Works for some seconds, whatever it is told."""
    with anyio.CancelScope(shield=True):
        await tick(name, seconds, context)
    return f"{name} has worked"


@server.tool()
async def child(name: str) -> str:
    """Starts a process that outlives the call, and works on."""
    process = await asyncio.create_subprocess_exec("sleep", "1000")
    log(f"{name} child {process.pid}")
    return str(process.pid)


class Wish(BaseModel):
    colour: str
    number: int


@server.tool()
async def ask(question: str, context: Context) -> str:
    """Asks a person."""
    log("asks")
    answer = await context.elicit(question, Wish)
    log(f"was told {answer.action}")
    if answer.action != "accept":
        return f"nothing: {answer.action}"
    return f"{answer.data.colour} {answer.data.number}"


@server.tool()
async def fail() -> str:
    """Fails."""
    raise ValueError("it did not work")


@server.tool()
async def die(word: str) -> str:
    """Ends the whole server."""
    print(f"about to die of {word}", file=sys.stderr, flush=True)
    os._exit(3)


@server.tool()
async def variables() -> str:
    """Names the variables that it sees."""
    return " ".join(sorted(os.environ))


@server.tool()
async def grow(context: Context) -> str:
    """Gets a new tool."""

    def grown() -> str:
        """Is new."""
        return "new"

    server.add_tool(grown)
    await context.request_context.session.send_tool_list_changed()
    return "grown"


def serve_http() -> None:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(os.environ.get("PORT", "0"))))
    listener.listen()
    print(listener.getsockname()[1], flush=True)
    key, certificate = os.environ.get("KEY"), os.environ.get("CERTIFICATE")
    app = server.streamable_http_app()
    config = uvicorn.Config(app, log_level="error", ssl_keyfile=key, ssl_certfile=certificate)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    log(f"started {os.getpid()}")
    serve_http() if sys.argv[1] == "http" else server.run("stdio")
