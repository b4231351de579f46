"""The whole way of a user: `pip install`, ten lines, `kill -9` of everything, an answer on a phone, the one legal route."""

from __future__ import annotations

import ast
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import REPOSITORY
from machine import Machine, Program
from model_server import ModelServer
from people import BETWEEN, WITHIN
from phone import Phone, phone

PROGRAM = REPOSITORY / "examples" / "python" / "ten_lines.py"
MATTER = "The customer threatens to sue."
RESULT = f"{{'order': 17, 'request': Legal(matter='{MATTER}')}}"


@pytest.fixture
def ann() -> Iterator[Phone]:
    with phone() as ann:
        yield ann


@pytest.fixture
def machine(binary: Path, tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_program_has_ten_lines() -> None:
    text = PROGRAM.read_text()
    lines = [line for line in text.splitlines()[ast.parse(text).body[0].end_lineno :] if line.strip()]
    assert len(lines) == 10
    assert max(map(len, lines)) <= 120
    assert ";" not in "".join(lines)


def test_a_question_outlives_everything_and_its_answer_takes_the_one_legal_route(ann: Phone, machine: Machine) -> None:
    # The model wants to pay, whatever people say, until it learns that it may not.
    with ModelServer({"refund": {"cents": 12_000}}, {"legal": {"matter": MATTER}}) as model:
        environment = {"OPENAI_BASE_URL": model.address, "OPENAI_API_KEY": "none", "IRQ_USER": "root"}

        with machine.start(PROGRAM, **environment) as desk:
            server = link_in(desk)
            ann.open(server)
            (question,) = ann.questions()
            assert desk.kill_everything() == ["python", "sh", "irq"]
        with pytest.raises(httpx.ConnectError):
            httpx.get(server)

        with machine.start(PROGRAM, **environment) as desk:
            ann.open(link_in(desk))
            owned_twice(machine)
            ann.page.reload()
            assert ann.questions() == [question]
            send_to_legal(ann, question)
            model.may_answer.set()
            assert desk.printed(2)[1] == RESULT
            assert desk.process.wait(WITHIN) == 0

        assert [legal_routes(body) for body in model.bodies] == [["legal"], ["legal"]]
        assert "'refund' was unexpected" in model.bodies[1]["messages"][-1]["content"]

        with machine.start(PROGRAM, **environment) as desk:
            assert desk.printed(2)[1] == RESULT
            assert desk.process.wait(WITHIN) == 0
        assert len(model.bodies) == 2

    assert ledger(machine) == [["find-order", 17], ["call-lawyers", 17, MATTER]]
    asked = history(machine, "interrupt")
    assert {f"/review/{entry['interrupt']}" for entry in asked} == {question}
    assert [entry["to"] for entry in asked].count("requested") == 1
    assert (asked[-1]["to"], asked[-1]["detail"], asked[-1]["actor"]["name"]) == (
        "rerouted",
        "Reroute to LEGAL",
        "root",
    )
    assert history(machine, "run")[-1]["state"] == "completed"


def link_in(desk: Program) -> str:
    """The link that lets one person in."""
    said, link = desk.printed(1)[0].split("Answer on ")
    assert said == ""
    return link


def owned_twice(machine: Machine) -> None:
    """Waits until the second process has taken the run."""
    ends = time.monotonic() + WITHIN
    while [entry["event"] for entry in history(machine, "run")].count("own") < 2:
        assert time.monotonic() < ends, f"it was not taken within {WITHIN:.0f} s"
        time.sleep(BETWEEN)


def send_to_legal(ann: Phone, question: str) -> None:
    """Answers the question on its page: the lawyers go on with it."""
    page = ann.page
    ann.tap(page.locator(f"#list a[href='{question}']"))
    page.wait_for_url(f"**{question}")
    ann.fits()
    assert page.locator("[data-testid=quoted]").get_by_text("Refund 120 € for order 17?").is_visible()
    assert page.locator("[data-testid=target]").inner_text() == "The answer goes back to REFUNDS."
    assert ann.sees(page.get_by_test_id("approve"))
    assert page.get_by_test_id("respond").count() == 0  # words are no yes
    ann.tap(page.get_by_text("Send it elsewhere"))
    ann.fits()
    page.get_by_label("To", exact=True).select_option("Legal")
    ann.tap(page.get_by_role("button", name="Reroute", exact=True))
    page.locator("[data-testid=review][data-state=rerouted]").wait_for()
    ann.fits()
    assert page.locator("[data-testid=target]").inner_text().startswith("The answer goes to LEGAL")


def legal_routes(body: dict[str, Any]) -> list[str]:
    """The routes that the schema leaves to the model."""
    schema = body["response_format"]["json_schema"]["schema"]
    assert not schema["additionalProperties"]
    assert schema["required"] == list(schema["properties"])
    return list(schema["properties"])


def ledger(machine: Machine) -> list[Any]:
    """What the agent has done."""
    return [json.loads(line) for line in (machine.home / "ledger.jsonl").read_text().splitlines()]


def history(machine: Machine, about: str) -> list[dict[str, Any]]:
    """What the audit says about the runs or the interrupts."""
    entries = map(json.loads, machine.run_irq("history", "--json").splitlines())
    return [entry for entry in entries if entry["about"] == about]
