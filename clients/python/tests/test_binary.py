from __future__ import annotations

from pathlib import Path

import pytest

from interrupt_router import BinaryNotFound
from interrupt_router.binary import find_binary


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_argument_goes_before_the_variable_and_that_before_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, named, on_path = (program(tmp_path / name / "irq") for name in ("given", "named", "path"))
    monkeypatch.setenv("PATH", str(on_path.parent))
    monkeypatch.setenv("IRQ_BINARY", str(named))
    assert find_binary(given) == given
    assert find_binary() == named
    monkeypatch.delenv("IRQ_BINARY")
    assert find_binary() == on_path


def test_the_program_of_the_package_goes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IRQ_BINARY", raising=False)
    monkeypatch.setenv("PATH", str(program(tmp_path / "path" / "irq").parent))
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path / "python" / "bin"))
    packaged = program(tmp_path / "python" / "bin" / "irq")
    assert find_binary() == packaged


def test_where_there_is_none_the_error_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IRQ_BINARY", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path / "python" / "bin"))
    with pytest.raises(BinaryNotFound) as missing:
        find_binary()
    assert missing.value.hint is not None
    assert "cargo install" in missing.value.hint


def test_a_named_program_that_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "irq"
    text.write_text("no program")
    monkeypatch.setenv("IRQ_BINARY", str(text))
    with pytest.raises(BinaryNotFound, match=str(text)):
        find_binary()
