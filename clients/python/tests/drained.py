"""A worker that a test ends by a signal in the middle of an effect: ``python drained.py WAY LEDGER``."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

from desk import DESK

from interrupt_router import Router, Run, sync

way, ledger = sys.argv[1], Path(sys.argv[2])


def pay() -> int:
    print("paying", flush=True)
    time.sleep(0.5)
    ledger.write_text(ledger.read_text() + "paid\n" if ledger.exists() else "paid\n")
    return 5


def nested(run: sync.Run) -> int:
    """An effect that calls the router itself."""
    paid = pay()
    run.root.messages()
    return paid


def handle_sync(run: sync.Run) -> Any:
    run.root.effect("pay", lambda: nested(run))
    return run.root.ask("Go on?", key="go").key


async def handle(run: Run) -> Any:
    async def effect() -> None:
        await run.root.effect("pay", pay)

    await asyncio.gather(effect(), run.root.ask("Go on?", key="go"))


async def main() -> None:
    async with Router() as router:
        if way == "work":
            await router.work(DESK, handle)
        async with router.run(DESK, alias="ticket", input="ticket") as run:
            await handle(run)


if way.startswith("sync"):
    with sync.Router() as router:
        if way == "sync-work":
            router.work(DESK, handle_sync)
        with router.run(DESK, alias="ticket", input="ticket") as run:
            handle_sync(run)
else:
    asyncio.run(main())
