"""The power mode of a Jetson: which cores are on, and how fast they may be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from cuvil_edge.remote.facts._base import Fact

_MODE = re.compile(r"NV Power Mode:\s*(\S.*?)\s*$", re.MULTILINE)


class PowerMode(Fact):
    """``"MAXN"``."""

    commands: ClassVar = {"nvpmodel": ("nvpmodel", "-q")}

    def parse(self, outputs: Mapping[str, str]) -> str | None:
        """The mode's name, None on everything that is not a Jetson."""
        match = _MODE.search(outputs["nvpmodel"])
        return match[1] if match else None
