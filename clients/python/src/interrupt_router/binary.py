"""Finds the program `irq`."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

from .errors import BinaryNotFound
from .settings import BINARY


def find_binary(given: str | os.PathLike[str] | None = None) -> Path:
    """The program: the one that is named, that of IRQ_BINARY, that of the wheel, or the one on the path."""
    if named := given or os.environ.get(BINARY):
        path = Path(named)
        if not _is_program(path):
            raise BinaryNotFound(f"{path} is no program", hint=f"check the argument `binary` and {BINARY}")
        return path
    packaged = Path(sysconfig.get_path("scripts"), "irq")
    if _is_program(packaged):
        return packaged
    if found := shutil.which("irq"):
        return Path(found)
    raise BinaryNotFound(
        f"the program `irq` is not on this machine: not in {packaged.parent}, and not on PATH",
        hint=f"install it with `cargo install --locked --path cli` in the repository of Interrupt Router, or set {BINARY}",
    )


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
