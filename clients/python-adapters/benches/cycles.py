"""A durable question: asked, decided, gone on with. Interrupt Router beside LangGraph, and a decision beside a bare poll.

    IRQ_BINARY=target/release/irq python benches/cycles.py [ROUNDS]

Each figure stands beside its rival or its floor, from the same run on the same machine. LangGraph's graph has one node
that interrupts, kept by its SQLite saver in a file; a cycle invokes it and resumes it. A cycle of the router goes over HTTP
to the real server, whose store is a file; a reviewer hears of the question by the feed, reads it and decides, each a request
of its own. The bare long poll is a server of a few lines that parks a request and lets it go, asked by the same client
library.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypedDict

import aiohttp
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from interrupt_router import Operator, Router, Workflow
from interrupt_router.local import LocalServer

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 100
AT_ONCE = (1, 64)
DESK = Workflow("bench", kinds={"CLERK": None})


def print_times(what: str, times: list[float], whole: float) -> float:
    """Prints how long things took."""
    times.sort()
    p50, p99 = statistics.median(times), times[len(times) * 99 // 100]
    print(f"  {what:<44} p50 {p50 * 1e3:7.2f} ms  p99 {p99 * 1e3:7.2f} ms  {len(times) / whole:6.0f}/s")
    return p50


async def measured(workers: int, once: Callable[[int, int], Awaitable[float]]) -> tuple[list[float], float]:
    """So many workers, each of which does something `ROUNDS` times."""

    async def one(worker: int) -> list[float]:
        return [await once(worker, number) for number in range(ROUNDS)]

    begun = time.perf_counter()
    times = await asyncio.gather(*(one(worker) for worker in range(workers)))
    return [each for some in times for each in some], time.perf_counter() - begun


class State(TypedDict):
    answer: str


def ask(_state: State) -> State:
    return {"answer": interrupt("Shall it go on?")}


async def langgraph(workers: int, folder: str) -> None:
    builder = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", END)
    async with AsyncSqliteSaver.from_conn_string(f"{folder}/langgraph-{workers}.db") as saver:
        graph = builder.compile(checkpointer=saver)

        async def once(worker: int, number: int) -> float:
            config: Any = {"configurable": {"thread_id": f"{worker}-{number}"}}
            begun = time.perf_counter()
            await graph.ainvoke({"answer": ""}, config)
            await graph.ainvoke(Command(resume="yes"), config)
            return time.perf_counter() - begun

        print_times("LangGraph: interrupt, resume", *await measured(workers, once))


async def bare(workers: int) -> float:
    parked = {worker: asyncio.Event() for worker in range(workers)}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := await reader.readline():
            while (await reader.readline()).strip():
                pass
            _method, path, _version = request.split()
            what, worker = path.decode().strip("/").split("/")
            if what == "wait":
                await parked[int(worker)].wait()
                parked[int(worker)].clear()
            else:
                parked[int(worker)].set()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntold")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
    address = "http://{}:{}".format(*server.sockets[0].getsockname())
    async with aiohttp.ClientSession(address, connector=aiohttp.TCPConnector(limit=0)) as client:

        async def get(path: str) -> None:
            async with client.get(path) as response:
                await response.read()

        async def once(worker: int, _number: int) -> float:
            begun = time.perf_counter()

            async def waits() -> float:
                await get(f"/wait/{worker}")
                return time.perf_counter() - begun

            waited, _let_go = await asyncio.gather(waits(), get(f"/let-go/{worker}"))
            return waited

        p50 = print_times("a bare long poll, let go", *await measured(workers, once))
    server.close()
    return p50


async def router(workers: int, server: LocalServer) -> None:
    told: list[float] = []
    worker_token, admin = await server.worker_token("bench")(), server.person_token("ann", "admin")
    async with Router(server.address, worker_token) as router, Operator(server.address, admin) as ann:
        owned = [router.run(DESK, alias=f"{workers}-{n}", input=n) for n in range(workers)]
        runs = [await each.__aenter__() for each in owned]
        decided: dict[str, float] = {}

        async def decide(interrupt_id: str, run_id: str) -> None:
            decided[run_id] = time.perf_counter()
            await ann.decide(await ann.interrupt(interrupt_id), "approve")

        async def review() -> None:
            """Hears of each question by the feed, as people do, reads it and decides."""
            async with asyncio.TaskGroup() as deciding:
                async for event in ann.events("interrupt.opened"):
                    deciding.create_task(decide(event.data["interrupt_id"], event.data["run_id"]))

        async def once(worker: int, number: int) -> float:
            begun = time.perf_counter()
            await runs[worker].root.ask("Shall it go on?", key=f"q{number}")
            ended = time.perf_counter()
            told.append(ended - decided[runs[worker].id])
            return ended - begun

        floor = await bare(workers)
        reviewing = asyncio.create_task(review())
        # The feed is read from now on.
        await asyncio.sleep(0.5)
        times, whole = await measured(workers, once)
        reviewing.cancel()
        p50 = print_times("the decision, until the worker is told", told, whole)
        print(f"    {p50 / floor:.2f} times a bare long poll at the median, the decision's own read and write included")
        print_times("Interrupt Router: ask, decide, go on", times, whole)
        for each in owned:
            await each.__aexit__(None, None, None)


async def main() -> None:
    # One caller asks more often here than a server lets him by default.
    os.environ["IRQ_REQUESTS_PER_SECOND"] = "1000000"
    with tempfile.TemporaryDirectory() as folder:
        server = LocalServer(store=f"{folder}/irq.db")
        await server.start()
        try:
            for workers in AT_ONCE:
                print(f"{workers} at once, {ROUNDS} rounds each")
                await router(workers, server)
                await langgraph(workers, folder)
        finally:
            await server.close()


asyncio.run(main())
