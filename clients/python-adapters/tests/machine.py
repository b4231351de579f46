"""A machine that has nothing but what `pip install` of the built wheels brings, and programs that can be killed on it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from conftest import BINARY, REPOSITORY
from people import BETWEEN, WITHIN

CLIENTS = REPOSITORY / "clients"


def build_wheel(package: str, folder: Path) -> Path:
    """The wheel of a package; that of the client carries the program."""
    program, built = folder / "stripped", folder / f"{package}-wheel"
    subprocess.run(["strip", "-o", program, BINARY], check=True)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)]
    environment = {**os.environ, "IRQ_WHEEL_PROGRAM": str(program)}
    subprocess.run(command, cwd=CLIENTS / package, env=environment, check=True, capture_output=True)
    (wheel,) = built.iterdir()
    return wheel


@dataclass
class Program:
    """A Python program that runs, and what it started."""

    process: subprocess.Popen[bytes]
    output: Path

    def printed(self, count: int) -> list[str]:
        """What it has printed, as soon as that is so many lines."""
        ends = time.monotonic() + WITHIN
        while len(lines := self.output.read_text().splitlines(keepends=True)) < count or lines[-1][-1] != "\n":
            assert self.process.poll() is None or self.output.read_text().count("\n") >= count, "it has ended"
            assert time.monotonic() < ends, f"it printed {lines} within {WITHIN:.0f} s"
            time.sleep(BETWEEN)
        return [line.rstrip("\n") for line in lines]

    def kill_everything(self) -> list[str]:
        """Kills it and all that it started with SIGKILL; returns their names."""
        family = [self.process.pid]
        for pid in family:
            for children in Path(f"/proc/{pid}/task").glob("*/children"):
                family += [int(child) for child in children.read_text().split()]
        names = [Path(f"/proc/{pid}/comm").read_text().strip() for pid in family]
        # None of them may start the server again, or end it gently, while the others die.
        for how in (signal.SIGSTOP, signal.SIGKILL):
            for pid in family:
                os.kill(pid, how)
        assert self.process.wait() == -signal.SIGKILL
        return names


class Machine:
    """An empty Python with the wheels, a home, and no other program `irq`."""

    def __init__(self, folder: Path) -> None:
        wheels = [build_wheel("python", folder), build_wheel("python-adapters", folder)]
        venv.create(folder / "venv")
        self.python = folder / "venv" / "bin" / "python"
        self.home = folder / "home"
        self.home.mkdir()
        self.environment = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        install = [sys.executable, "-m", "pip", "--python", str(self.python), "install", "--quiet"]
        wanted = [str(wheels[0]), f"{wheels[1]}[langgraph]", "langgraph-checkpoint-sqlite"]
        subprocess.run([*install, "--disable-pip-version-check", *wanted], check=True)
        (self.irq,) = folder.glob("venv/bin/irq")

    def run_irq(self, *arguments: str) -> str:
        """What the program of the wheel prints."""
        command = [str(self.irq), *arguments]
        return subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True).stdout

    @contextmanager
    def start(self, program: Path, **environment: str) -> Iterator[Program]:
        """Runs a Python program at home until the block ends."""
        command = [str(self.python), "-u", str(program)]
        output = self.home / "output"
        with output.open("wb") as stdout:
            process = subprocess.Popen(command, cwd=self.home, env={**self.environment, **environment}, stdout=stdout)
        running = Program(process, output)
        try:
            yield running
        finally:
            if process.poll() is None:
                running.kill_everything()
