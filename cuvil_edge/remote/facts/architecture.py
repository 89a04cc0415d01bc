"""The CPU architecture, as ``uname -m`` prints it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from cuvil_edge.remote.facts._base import Fact

_SAME = {"arm64": "aarch64", "amd64": "x86_64"}


class Architecture(Fact):
    """``"aarch64"``. Of the kernel: a 32-bit user land on it can run our static 64-bit programs."""

    commands: ClassVar = {"machine": ("uname", "-m")}

    def parse(self, outputs: Mapping[str, str]) -> str | None:
        """The name, None if nothing was printed."""
        name = outputs["machine"].strip()
        return _SAME.get(name, name) or None
