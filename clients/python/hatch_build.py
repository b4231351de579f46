"""Gives a wheel that carries the program the tag of its platform; without the program it fits all."""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PlatformWheel(BuildHookInterface[Any]):
    """Looks for the program before the wheel is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - the form of all hooks
        if (Path(self.root) / "src" / "interrupt_router" / "bin" / "irq").exists():
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{re.sub('[-.]', '_', sysconfig.get_platform())}"
