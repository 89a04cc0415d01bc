"""The kernel's name and release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from cuvil_edge.remote.facts._base import Fact


class Kernel(Fact):
    """``"Linux 6.6.20+rpt-rpi-2712"``."""

    commands: ClassVar = {"uname": ("uname", "-sr")}

    def parse(self, outputs: Mapping[str, str]) -> str | None:
        """The text, None if nothing was printed."""
        return outputs["uname"].strip() or None
