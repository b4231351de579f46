"""A worker that a test kills, whose code wraps what it calls: ``python wrapping.py async LEDGER``, or ``sync``."""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from interrupt_router import EffectUnkept, Router, Run, Workflow, sync

WRAPPING = Workflow("wrapping", kinds={"CLERK": None})
ROUNDS = 2

# Python 3.10 has none.
TaskGroup: Any = getattr(asyncio, "TaskGroup", None)

ledger = Path(sys.argv[-1])


class ToolError(Exception):
    """What a library makes of each error of a tool."""


def pay(line: str) -> str:
    time.sleep(0.02)
    with ledger.open("a") as writing:
        writing.write(f"{line}\n")
    time.sleep(0.02)
    return line


def was_paid(line: str) -> str | None:
    return line if ledger.exists() and line in ledger.read_text().splitlines() else None


def odd(line: str) -> Any:
    return {pay(line), math.nan}


def was_odd(line: str) -> Any:
    return {line} if was_paid(line) else None


async def handle(run: Run) -> Any:
    async def ask(number: int) -> str:
        try:
            return made((await run.root.ask(f"Round {number}?", key=f"ask-{number}")).decision)
        except Exception as error:
            raise ToolError("the tool failed") from error

    async def effect(number: int) -> None:
        await run.root.effect(f"pay-{number}", pay, f"pay-{number} {run.input}", lookup=was_paid)

    async def read(key: str) -> list[str]:
        return [message.text for message in await run.root.messages(key)]

    decided, texts = [], []
    for number in range(ROUNDS):
        said, _, new = await together(ask(number), effect(number), read(f"read-{number}"))
        decided.append(said)
        texts += new
    try:
        await run.root.effect("odd", odd, f"odd {run.input}", lookup=was_odd)
    except EffectUnkept as unkept:
        return {"decided": decided, "read": texts + await read("rest"), "odd": unkept.key}


async def together(*work: Coroutine[Any, Any, Any]) -> list[Any]:
    if TaskGroup is None:
        return await asyncio.gather(*work)
    async with TaskGroup() as tasks:
        doing = [tasks.create_task(each) for each in work]
    return [each.result() for each in doing]


def handle_sync(run: sync.Run) -> Any:
    def ask(number: int) -> str:
        try:
            return made(run.root.ask(f"Round {number}?", key=f"ask-{number}").decision)
        except Exception as error:
            raise ToolError("the tool failed") from error

    def effect(number: int) -> None:
        run.root.effect(f"pay-{number}", pay, f"pay-{number} {run.input}", lookup=was_paid)

    def read(number: int) -> list[str]:
        return [message.text for message in run.root.messages(f"read-{number}")]

    decided, texts = [], []
    for number in range(ROUNDS):
        functions: list[Callable[[int], Any]] = [ask, effect, read]
        with ThreadPoolExecutor(3) as threads:
            said, _, new = [each.result() for each in [threads.submit(function, number) for function in functions]]
        decided.append(said)
        texts += new
    try:
        run.root.effect("odd", odd, f"odd {run.input}", lookup=was_odd)
    except EffectUnkept as unkept:
        texts += [message.text for message in run.root.messages("rest")]
        return {"decided": decided, "read": texts, "odd": unkept.key}


def made(decision: Any) -> str:
    """The id of a decision; there is one."""
    return str(decision.id)


async def main() -> None:
    async with Router() as router:
        await router.work(WRAPPING, handle, lease=1.0, park_after=0.2)


if __name__ == "__main__":
    if sys.argv[1] == "async":
        asyncio.run(main())
    with sync.Router() as router:
        router.work(WRAPPING, handle_sync, lease=1.0, park_after=0.2)
