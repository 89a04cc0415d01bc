"""Whether the device is an emulator: then its times mean nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from cuvil_edge.remote.facts._base import Fact


class Emulated(Fact):
    """True under qemu-user (a virtual board), which answers for the program that it should start."""

    commands: ClassVar = {"shell": ("sh", "-c", "QEMU_VERSION=1 /bin/sh -c 'echo native'")}

    def parse(self, outputs: Mapping[str, str]) -> bool | None:
        """None if the command said nothing."""
        text = outputs["shell"].strip()
        return None if not text else text.startswith("qemu-")
