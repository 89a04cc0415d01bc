"""Temperatures at this moment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from cuvil_edge.remote.facts._base import Fact

_ZONES = (
    "cd /sys/class/thermal || exit 1; for z in thermal_zone*; do "
    '[ -r "$z/temp" ] && t=$(cat "$z/temp") && echo "$(cat "$z/type") $t"; done'
)
_VCGENCMD = re.compile(r"temp=(\d+)\.(\d)'C")
# Sensors that are switched off answer with values like -256000 (Jetson) or 0.
_PLAUSIBLE_MILLIDEGREES = range(-40_000, 200_000)


class Temperature(Fact):
    """``{"cpu-thermal": 48312, ...}`` in thousandths of a degree Celsius, by the zone's type."""

    commands: ClassVar = {
        "zones": ("sh", "-c", _ZONES),
        "vcgencmd": ("vcgencmd", "measure_temp"),
    }

    def parse(self, outputs: Mapping[str, str]) -> dict[str, int] | None:
        """By zone, None where nothing tells."""
        found: dict[str, int] = {}
        for line in outputs["zones"].splitlines():
            name, _, text = line.rpartition(" ")
            if name and text.lstrip("-").isdigit() and int(text) in _PLAUSIBLE_MILLIDEGREES and int(text) != 0:
                unique = name if name not in found else f"{name}.{len(found)}"
                found[unique] = int(text)
        if not found and (match := _VCGENCMD.search(outputs["vcgencmd"])):
            found["soc"] = int(match[1]) * 1000 + int(match[2]) * 100
        return found or None
