"""Passes each desk through all cases: `python -m runner [DESK...] [--case NAME]`."""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from .case import Case, cases
from .installation import DeskProgram, Installation, prepare
from .model import Model
from .ticket import Ticket

HERE = Path(__file__).parents[1]
DESKS = ("rust", "python", "typescript")
TICKETS_AT_ONCE = 4
"""As many as a worker takes."""
MORTAL_AT_ONCE = 4
"""How many desks of one case there are at once."""


@dataclass(frozen=True)
class Outcome:
    """How a case ended."""

    name: str
    problem: str | None
    seconds: float = 0.0


@dataclass(frozen=True)
class Surroundings:
    """What all desks have in common."""

    model: Model
    store: Path
    """A folder with a store that knows people and worker."""
    secrets: Mapping[str, str]
    mortal: asyncio.Semaphore


class Suite:
    """One desk and the cases that it has to pass."""

    def __init__(self, desk: DeskProgram, kinds: Mapping[str, Any], surroundings: Surroundings) -> None:
        self.desk = desk
        self._kinds = kinds
        self._around = surroundings

    async def outcomes(self, wanted: list[Case]) -> list[Outcome]:
        """Does all of them: some have a desk of their own each, the others share one."""
        together = self._together([case for case in wanted if not case.is_alone])
        alone = [self._alone(case) for case in wanted if case.is_alone]
        groups = await asyncio.gather(together, *alone)
        return [outcome for group in groups for outcome in group]

    async def _together(self, shared: list[Case]) -> list[Outcome]:
        places = asyncio.Semaphore(TICKETS_AT_ONCE)
        async with self._started() as desk:

            async def outcome(case: Case) -> Outcome:
                async with places:
                    return await self._outcome(case, desk)

            outcomes = await asyncio.gather(*map(outcome, shared))
            return [*outcomes, Outcome("registers-what-desk.yaml-says", await self._difference(desk))] if shared else []

    async def _alone(self, case: Case) -> list[Outcome]:
        async with self._around.mortal, self._started(case.policy) as desk:
            return [await self._outcome(case, desk)]

    @asynccontextmanager
    async def _started(self, policy: str | None = None) -> AsyncIterator[Installation]:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(self._around.store, folder, dirs_exist_ok=True)
            desk = Installation(self.desk, Path(folder), self._around.model.url, self._around.secrets, policy)
            try:
                await desk.start()
                yield desk
            finally:
                await desk.close()

    async def _outcome(self, case: Case, desk: Installation) -> Outcome:
        ticket, began, problem = Ticket(case, desk, self._around.model), time.monotonic(), None
        try:
            await ticket.handle()
            await ticket.leave()
        except Exception as error:  # a case that fails must not end the others
            problem = f"{case.title}\n{type(error).__name__}: {error}\n{desk.logs()}"
        if case.file in self.desk.cannot:
            problem = None if problem else f"it passes, so take it out of `cannot` of {self.desk.name}.yaml"
        return Outcome(case.name, problem, time.monotonic() - began)

    async def _difference(self, desk: Installation) -> str | None:
        """How what the desk has registered differs from desk.yaml."""
        found = await desk.catalogue()
        routes = {
            route["name"]: (route["field"], list(_object(route["schema"])["properties"])) for route in found["routes"]
        }
        registered = {kind["name"]: routes[kind["origin"]] for kind in found["kinds"]}
        described = {kind: (told["route"], [told["text"]]) for kind, told in self._kinds.items()}
        return None if registered == described else f"{registered} is not {described}"


def _object(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of the request itself, where the desk refers to it by its name."""
    if "$ref" not in schema:
        return schema
    named: dict[str, Any] = schema["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    return named


def report(suite: Suite, outcomes: list[Outcome]) -> int:
    """Tells how the cases of a desk ended; returns how many have failed."""
    desk = suite.desk
    failed = [outcome for outcome in outcomes if outcome.problem is not None]
    for outcome in failed:
        print(f"✗ {desk.name} {outcome.name}: {outcome.problem}\n")
    slowest = max(outcomes, key=lambda outcome: outcome.seconds)
    passed = len(outcomes) - len(failed)
    longest = f"the longest, {slowest.name}, took {slowest.seconds:.1f} s"
    print(f"{desk.name}: {passed} of {len(outcomes)} cases are as they should be; {longest}")
    for file, reason in desk.cannot.items():
        print(f"  it cannot pass {file}: {reason}")
    return len(failed)


def read(name: str, known: set[str]) -> DeskProgram:
    """A desk, from its file."""
    desk = DeskProgram(name=name, **yaml.safe_load((HERE / f"{name}.yaml").read_text()))
    if unknown := set(desk.cannot) - known:
        raise SystemExit(f"{name}.yaml: `cannot` names {sorted(unknown)}, and there is no such case in cases/")
    return desk


async def main() -> int:
    """Returns how many cases have failed."""
    parser = argparse.ArgumentParser(prog="tests/desks/check")
    parser.add_argument("desks", nargs="*", metavar="DESK", help=f"one of {', '.join(DESKS)}; all where none is named")
    parser.add_argument("--case", default="", help="only cases whose names begin so")
    given = parser.parse_args()
    if unknown := set(given.desks) - set(DESKS):
        parser.error(f"{', '.join(sorted(unknown))} is no desk; these are: {', '.join(DESKS)}")
    every = list(cases(HERE / "cases"))
    wanted = [case for case in every if case.name.startswith(given.case)]
    if not wanted:
        parser.error(f"no case begins with {given.case}; cases/ has all of them")
    kinds = yaml.safe_load((HERE / "desk.yaml").read_text())["kinds"]
    desks = [read(name, {case.file for case in every}) for name in given.desks or DESKS]
    model, began = Model({told["route"]: told["text"] for told in kinds.values()}), time.monotonic()
    with tempfile.TemporaryDirectory() as store:
        mortal = asyncio.Semaphore(MORTAL_AT_ONCE)
        surroundings = Surroundings(model, Path(store), prepare(Path(store)), mortal)
        suites = [Suite(desk, kinds, surroundings) for desk in desks]
        groups = await asyncio.gather(*(suite.outcomes(wanted) for suite in suites))
    model.close()
    failed = sum(report(suite, outcomes) for suite, outcomes in zip(suites, groups, strict=True))
    print(f"{time.monotonic() - began:.0f} s")
    return failed


if __name__ == "__main__":
    sys.exit(min(asyncio.run(main()), 1))
