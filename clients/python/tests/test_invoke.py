"""How functions of the embedder are called, and what tells their arguments apart."""

from __future__ import annotations

import datetime
import logging
from dataclasses import dataclass
from typing import Any

import pydantic
import pytest
from fake import FakeServer

from interrupt_router import sync, waiting
from interrupt_router.invoke import digest
from interrupt_router.sync.portal import Portal
from interrupt_router.sync.router import Ownership


@dataclass
class Payment:
    cents: int
    to: Any = None


class Refund(pydantic.BaseModel):
    cents: int


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((1,), (2,)),
        (("a", {"b": [1]}), ("a", {"b": [2]})),
        ((Payment(1),), (Payment(2),)),
        ((Payment(1, Payment(2)),), (Payment(1, Payment(3)),)),
        ((Refund(cents=1),), (Refund(cents=2),)),
        ((datetime.date(2026, 11, 28),), (datetime.date(2026, 11, 29),)),
        ((b"a",), (b"b",)),
        ((2**70,), (2**70 + 1,)),
        (("\ud800",), ("\ud801",)),
    ],
)
def test_other_arguments_have_another_digest(one: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    assert digest(one) == digest(one) != digest(other)


def test_what_differs_in_each_process_has_no_part_in_it() -> None:
    assert digest((object(), 1)) == digest((object(), 1))
    assert digest(()) is None
    assert digest(({(1, 2): 3},)) is None


def test_a_coroutine_function_is_refused_before_anything_has_begun() -> None:
    async def pay(cents: int) -> int:
        return cents

    async def made() -> FakeServer:
        return FakeServer()

    portal = Portal()
    try:
        server = portal.call(made())
        with pytest.raises(TypeError, match="pay` is a coroutine function"), Ownership(server.owned(), portal) as run:
            refused(run, pay)
        assert server.effects == {}
    finally:
        portal.close()


def refused(run: sync.Run, pay: Any) -> None:
    with pytest.raises(TypeError):
        run.root.effect("pay", len, [], lookup=pay)
    run.root.effect("pay", pay, 5)


@pytest.mark.anyio
async def test_a_wait_says_what_it_waits_for(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "SAID_AFTER", 0.01)
    server = FakeServer()
    caplog.set_level(logging.INFO, "interrupt_router")
    with pytest.raises(Exception, match="Refund"):
        async with server.owned(park_after=0.05) as run:
            await run.root.ask("Refund?", key="Refund")
    said = [(record.levelname, record.message) for record in caplog.records if "waiting" in record.message]
    assert said == [("INFO", "waiting for a decision about `Refund` of run_1: Refund?")]
