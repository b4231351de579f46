"""The wheel that carries the program, on a machine that has nothing else of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from conftest import BINARY

PACKAGE = Path(__file__).parents[1]
PATIENCE = 120

# It needs the wheel and nothing else.
PROGRAM = """
import asyncio
from pathlib import Path
from interrupt_router import Router, Workflow

DESK = Workflow("desk", kinds={"REFUNDS": None})


def pay():
    with Path("ledger.txt").open("a") as ledger:
        ledger.write("12000 cents\\n")
    return 12000


async def main():
    async with Router.local() as router:
        print(f"Answer on {router.server.link}", flush=True)
        async with router.run(DESK, alias="ticket-17", lease=1.0) as run:
            await run.root.ask("Refund 120 euros?", key="refund")
            print("paid", await run.root.effect("pay", pay))


asyncio.run(main())
"""


@pytest.fixture
def machine(tmp_path: Path) -> tuple[Path, Path, dict[str, str]]:
    """A Python with the wheel alone, the program that it carries, and an environment that names no other one."""
    program, built = tmp_path / "stripped", tmp_path / "built"
    subprocess.run(["strip", "-o", program, BINARY], check=True)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)]
    environment = {**os.environ, "IRQ_WHEEL_PROGRAM": str(program)}
    subprocess.run(command, cwd=PACKAGE, env=environment, check=True, capture_output=True)
    program.unlink()
    (wheel,) = built.iterdir()
    assert not wheel.name.endswith("none-any.whl"), "it fits one platform"

    folder = tmp_path / "python"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)]
    subprocess.run(install, check=True)
    find = [str(python), "-c", "from interrupt_router.binary import find_binary; print(find_binary())"]
    environment = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
    found = subprocess.run(find, env=environment, check=True, capture_output=True, text=True).stdout.strip()
    assert found == str(folder / "bin" / "irq")
    said = subprocess.run([found, "--version"], env=environment, check=True, capture_output=True, text=True).stdout
    assert said.startswith("irq ")
    return python, Path(found), environment


def test_a_question_outlives_everything_that_was_installed_from_the_wheel(
    machine: tuple[Path, Path, dict[str, str]], tmp_path: Path
) -> None:
    python, program, environment = machine
    command = [str(python), "-c", PROGRAM]

    def review(*arguments: str) -> str:
        asked = [str(program), "review", *arguments]
        return subprocess.run(asked, env=environment, check=True, capture_output=True, text=True).stdout

    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as desk:
        assert desk.stdout is not None
        assert "Answer on http://127.0.0.1:" in desk.stdout.readline()
        while not (waiting := review("--json", "--no-input").splitlines()):
            assert desk.poll() is None
        os.killpg(desk.pid, signal.SIGKILL)
    question = json.loads(waiting[0])
    # The server has died with it; the question stands in the store.
    review(question["id"], "--decision", "approve")
    ended = subprocess.run(
        command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True, timeout=PATIENCE
    )
    assert "paid 12000" in ended.stdout
    assert (tmp_path / "ledger.txt").read_text() == "12000 cents\n"
