"""How busy the device is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from cuvil_edge.remote.facts._base import Fact

_THREE = re.compile(r"(\d+\.\d+),? +(\d+\.\d+),? +(\d+\.\d+)")


class Load(Fact):
    """``{"one_minute": 0.08, "five_minutes": 0.03, "fifteen_minutes": 0.01}``: programs that want a CPU."""

    commands: ClassVar = {"loadavg": ("cat", "/proc/loadavg"), "uptime": ("uptime",)}

    def parse(self, outputs: Mapping[str, str]) -> dict[str, float] | None:
        """The three averages, None where nothing tells."""
        averages = outputs["uptime"].rpartition("load average:")
        match = _THREE.match(outputs["loadavg"].strip()) or (_THREE.search(averages[2]) if averages[1] else None)
        if match is None:
            return None
        return dict(zip(("one_minute", "five_minutes", "fifteen_minutes"), map(float, match.groups()), strict=True))
