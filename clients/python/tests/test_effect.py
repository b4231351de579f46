"""Effects, over the real server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from desk import DESK, again, killed

from interrupt_router import EffectUnkept, EffectUnknown, IdempotencyConflict, Invalid, Operator, Router, Run

pytestmark = pytest.mark.anyio


class Bank:
    """Pays, and knows what it has paid."""

    def __init__(self) -> None:
        self.paid: list[int] = []

    def pay(self, cents: int) -> dict[str, int]:
        self.paid.append(cents)
        return {"cents": cents}

    def find(self, cents: int) -> dict[str, int] | None:
        return {"cents": cents} if cents in self.paid else None


async def begun(run: Run, key: str, *, repeatable: bool = False) -> None:
    """A worker began an effect and died."""
    state = await run.lease.put(f"effects/{key}", {"agent_id": "root", "repeatable": repeatable})
    assert state["state"] == "begun"


async def test_an_effect_happens_once(router: Router) -> None:
    bank = Bank()
    run = await killed(router.run(DESK, alias="t", lease=1.0))
    assert await run.root.effect("pay", bank.pay, 5) == {"cents": 5}
    assert await run.root.effect("pay", bank.pay, 5) == {"cents": 5}
    async with again(router, run) as taken:
        assert await taken.root.effect("pay", bank.pay, 5) == {"cents": 5}
    assert bank.paid == [5]


async def test_functions_may_be_plain_asynchronous_or_lambdas(router: Router) -> None:
    async def later(value: Any) -> Any:
        await asyncio.sleep(0)
        return value

    async with router.run(DESK) as run:
        assert await run.root.effect("async", later, (1, 2)) == [1, 2], "what a later worker reads, the first one gets"
        assert await run.root.effect("lambda", lambda: later(3)) == 3
        assert await run.root.effect("nothing", {}.get, "key") is None
        assert await run.root.effect("nothing", pytest.fail, "key") is None


async def test_what_may_have_happened_is_told(router: Router) -> None:
    bank = Bank()
    run = await killed(router.run(DESK, alias="t", lease=1.0))
    await begun(run, "pay")
    with pytest.raises(EffectUnknown, match="pay"):
        async with again(router, run) as taken:
            await taken.root.effect("pay", bank.pay, 5)
    assert bank.paid == []


@pytest.mark.parametrize("happened", [True, False])
async def test_a_lookup_finds_out(happened: bool, router: Router) -> None:
    bank = Bank()
    run = await killed(router.run(DESK, alias="t", lease=1.0))
    await begun(run, "pay")
    if happened:
        bank.pay(5)
    async with again(router, run) as taken:
        assert await taken.root.effect("pay", bank.pay, 5, lookup=bank.find) == {"cents": 5}
        assert await taken.root.effect("pay", bank.pay, 5) == {"cents": 5}
    assert bank.paid == [5]


async def test_what_is_repeatable_is_done_again(router: Router) -> None:
    run = await killed(router.run(DESK, alias="t", lease=1.0))
    await begun(run, "mail", repeatable=True)
    async with again(router, run) as taken:
        assert await taken.root.effect("mail", lambda: "sent", repeatable=True) == "sent"


async def test_an_effect_that_fails_has_no_result(router: Router) -> None:
    def fails() -> None:
        raise OSError("the bank is closed")

    async with router.run(DESK) as run:
        with pytest.raises(OSError, match="closed"):
            await run.root.effect("pay", fails)
        with pytest.raises(EffectUnknown):
            await run.root.effect("pay", fails)
        assert await run.root.effect("pay", lambda: 5, lookup=lambda: None) == 5


async def test_a_key_stands_for_one_effect(router: Router) -> None:
    async with router.run(DESK) as run:
        await run.root.effect("pay", lambda: 1)
        with pytest.raises(IdempotencyConflict):
            await run.root.effect("pay", lambda: 1, repeatable=True)


async def test_a_key_stands_for_one_call(router: Router) -> None:
    bank = Bank()
    async with router.run(DESK) as run:
        await run.root.effect("pay", bank.pay, 5)
        with pytest.raises(IdempotencyConflict) as conflict:
            await run.root.effect("pay", bank.pay, 99_999)
        assert conflict.value.differs == ("arguments",)
        assert await run.root.effect("pay", bank.pay, 5) == {"cents": 5}
    assert bank.paid == [5]


async def test_a_cancellation_does_not_cut_an_effect(router: Router) -> None:
    doing, may_end = asyncio.Event(), asyncio.Event()

    async def pay() -> int:
        doing.set()
        await may_end.wait()
        return 5

    async with router.run(DESK) as run:
        task = asyncio.create_task(run.root.effect("pay", pay))
        await doing.wait()
        task.cancel()
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await run.root.effect("pay", pytest.fail, "it was done") == 5


def nesting(depth: int) -> Any:
    return [nesting(depth - 1)] if depth else "deep"


UNKEPT: dict[str, Any] = {
    "large int": {"cents": 2**64},
    "small int": -(2**63) - 1,
    "NaN": [float("nan")],
    "infinity": float("inf"),
    "set": {"ids": {1, 2}},
    "bytes": b"paid",
    "key": {(1, 2): "pair"},
    "object": object(),
    "nesting": nesting(200),
    "much nesting": nesting(900),
    "surrogate": "paid \ud800",
    "surrogate in a key": {"\udfff": 1},
    "size": "x" * 20_000_000,
}


@pytest.mark.parametrize("what", UNKEPT)
async def test_what_cannot_be_kept_has_happened_once(what: str, router: Router, ann: Operator) -> None:
    done = 0

    def pay() -> Any:
        nonlocal done
        done += 1
        return UNKEPT[what]

    run = await killed(router.run(DESK, alias="t", lease=1.0))
    with pytest.raises(EffectUnkept, match="`pay` has happened") as first:
        await run.root.effect("pay", pay)
    assert (first.value.key, first.value.code) == ("pay", "effect-unkept")
    # The next worker is told the same, and the run goes on where the code lets it.
    async with again(router, run) as taken:
        with pytest.raises(EffectUnkept) as second:
            await taken.root.effect("pay", pay)
        assert second.value.what == first.value.what
        assert await taken.root.effect("mail", lambda: 2**64 - 1) == 2**64 - 1
    assert (await ann.run(run.id)).status == "completed"
    assert done == 1


async def test_a_result_of_a_run_that_cannot_be_kept_fails_it(router: Router, ann: Operator) -> None:
    with pytest.raises(Invalid):
        async with router.run(DESK) as run:
            run.result = {1, 2}
    row = await ann.run(run.id)
    assert (row.status, "set" in str(row.reason)) == ("failed", True)
