"""The snippets of the READMEs: the first one runs word for word, and type checkers accept all of them."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from conftest import REPOSITORY
from waiting import open_question

from interrupt_router import Operator
from interrupt_router.operator import Verdict

pytestmark = pytest.mark.anyio

CHECKERS = pytest.mark.parametrize(
    "checker", [["mypy", "--strict", "--no-incremental"], ["basedpyright", "--level", "error"]], ids=["mypy", "pyright"]
)

READMES = [REPOSITORY / "clients/python/README.md", REPOSITORY / "clients/python-adapters/README.md"]

# What the text around a snippet says. A snippet that waits is the body of a function.
PRELUDE = """
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from interrupt_router import Limit, NarrowedSchema, Routed, Router, Workflow


@dataclass
class RefundRequest:
    cents: Annotated[int, Limit(ge=1, le=100_000)]


@dataclass
class LegalRequest:
    matter: Annotated[str, Limit(max_length=2000)]


DESK = Workflow("desk", kinds={"REFUNDS": "refund"}, routes={"refund": RefundRequest})


class Bank:
    def pay(self, order: int, cents: int) -> int:
        return cents

    def find_payment(self, order: int, cents: int) -> int | None:
        return None


def model(schema: NarrowedSchema, messages: Sequence[Mapping[str, str]]) -> str:
    return ""


bank, order, url, token = Bank(), 17, "http://127.0.0.1:8080", "irq_x"


async def snippet(decided: Routed, router: Any, run: Any, agent: Any, run_id: str, builder: Any, saver: Any) -> None:
"""


def snippets(readme: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", readme.read_text(), re.MULTILINE | re.DOTALL)


def program(snippet: str) -> str:
    if "asyncio.run(" in snippet:
        return snippet
    return "from __future__ import annotations\n" + PRELUDE + textwrap.indent(snippet, "    ") + "\n    print()\n"


def checked(checker: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """What a type checker says of all programs of a folder."""
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    # mypy takes the interpreter that it runs in, pyright any that it finds.
    python = ["--pythonpath", sys.executable] if checker[0] == "basedpyright" else []
    command = [str(Path(sys.executable).with_name(checker[0])), *checker[1:], *python, *map(str, folder.glob("*.py"))]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


# What this needs to say anything of is not installed for tests.
EXAMPLES = {*(REPOSITORY / "examples/python").glob("*.py")} - {REPOSITORY / "examples/python/supervisor_nats.py"}


MATCH = """
from interrupt_router import Answered, Approved, Decided, Declined, Expired, Rerouted, Withdrawn
from typing_extensions import assert_never


def carried_out(decided: Decided) -> bool:
    match decided:
        case Approved():
            return True
        case Answered(choices=choices):
            return choices == ("yes",)
        case {cases}:
            return False
        case _:
            assert_never(decided)
"""


@CHECKERS
@pytest.mark.parametrize("missing", ["Rerouted", "Declined", "Expired", "Withdrawn", None])
def test_type_checkers_see_a_missing_case(checker: list[str], missing: str | None, tmp_path: Path) -> None:
    cases = [f"{name}()" for name in ("Rerouted", "Declined", "Expired", "Withdrawn") if name != missing]
    (tmp_path / "program.py").write_text(MATCH.format(cases=" | ".join(cases)))
    said = checked(checker, tmp_path)
    assert (said.returncode != 0) == (missing is not None), said.stdout
    assert missing is None or missing in said.stdout


@CHECKERS
def test_type_checkers_accept_snippets_and_examples(checker: list[str], tmp_path: Path) -> None:
    for example in EXAMPLES:
        shutil.copy(example, tmp_path)
    for readme in READMES:
        for number, snippet in enumerate(snippets(readme), 1):
            name = f"{readme.parent.name.replace('-', '_')}_{number}.py"
            (tmp_path / name).write_text(program(snippet))
    said = checked(checker, tmp_path)
    assert said.returncode == 0, said.stdout


def token(binary: Path, store: Path) -> str:
    """The token of a supervisor."""
    create = ["token", "create", "--name", "ann", "--role", "supervisor", "--store", str(store), "--json"]
    made = subprocess.run([binary, *create], capture_output=True, check=True, text=True)
    return str(json.loads(made.stdout)["secret"])


@pytest.mark.parametrize(
    ("decision", "said"),
    [("approve", "paid 12000 cents for order 17"), ("reject", "not paid: No! He is a fraud."), ("reroute", "Legal(")],
)
async def test_the_first_snippet_runs(decision: Verdict, said: str, binary: Path, tmp_path: Path) -> None:
    store = tmp_path / "irq.db"
    (tmp_path / "program.py").write_text(snippets(READMES[0])[0])
    environment = {**os.environ, "IRQ_BINARY": str(binary), "IRQ_STORE": str(store)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "program.py", cwd=tmp_path, env=environment, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    link = (await process.stdout.readline()).decode().removeprefix("Answer on ")
    async with Operator(f"http://{urlsplit(link).netloc}", await asyncio.to_thread(token, binary, store)) as ann:
        to, text = ("LEGAL", None) if decision == "reroute" else (None, "No! He is a fraud." * (decision == "reject"))
        question = await open_question(ann)
        assert (question.answer_form, "respond" in question.allowed_decisions) == ("yes_or_no", False)
        await ann.decide(question, decision, reroute_to=to, text=text)
        output, _ = await asyncio.wait_for(process.communicate(), 30)
    assert output.decode().startswith(said)
    assert process.returncode == 0
