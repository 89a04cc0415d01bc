"""What a fact about a device is."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

_CPU_LINE = re.compile(r"^(?P<cpu>cpu\d+)\s+(?P<value>\S+)\s*$", re.MULTILINE)


class Fact(ABC):
    """One fact; its name is that of its file.

    ``commands`` are programs to run on the device, by a short name of this fact's own. They must be harmless, quick,
    and may be missing or fail there: the fact then sees what they printed, or nothing. ``$CUVIL_ROOT`` is the folder
    for installations.
    """

    commands: ClassVar[Mapping[str, tuple[str, ...]]]

    @abstractmethod
    def parse(self, outputs: Mapping[str, str]) -> Any | None:
        """The fact as a JSON value, from the standard outputs of the commands by their names.

        None when it cannot be known on this device. Integers carry their unit in the key.
        """


def each_cpu(file: str) -> tuple[str, ...]:
    """A command that prints ``cpuN value`` for every CPU that has ``file`` below its folder in /sys."""
    loop = f'for c in cpu[0-9]*; do [ -r "$c/{file}" ] && echo "$c $(cat "$c/{file}")"; done'
    script = f"cd /sys/devices/system/cpu || exit 1; {loop}"
    return ("sh", "-c", script)


def cpu_values(text: str) -> dict[str, str]:
    """What ``each_cpu`` printed, in the order of the CPU numbers."""
    found = {match["cpu"]: match["value"] for match in _CPU_LINE.finditer(text)}
    return dict(sorted(found.items(), key=lambda item: int(item[0][3:])))


def key_values(text: str, separator: str) -> list[tuple[str, str]]:
    """``key <separator> value`` lines, both stripped; other lines are passed over."""
    pairs = (line.partition(separator) for line in text.splitlines())
    return [(key.strip(), value.strip()) for key, found, value in pairs if found]
