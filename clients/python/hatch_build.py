"""Puts the program that IRQ_WHEEL_PROGRAM names into the wheel, as `irq` of its scripts; without it the wheel fits all."""

from __future__ import annotations

import os
import re
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PlatformWheel(BuildHookInterface[Any]):
    """A wheel with the program fits one platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - the form of all hooks
        if program := os.environ.get("IRQ_WHEEL_PROGRAM"):
            build_data["shared_scripts"] = {str(Path(program).resolve(strict=True)): "irq"}
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{re.sub('[-.]', '_', sysconfig.get_platform())}"
