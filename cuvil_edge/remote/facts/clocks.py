"""The CPUs' clocks at this moment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from cuvil_edge.remote.facts._base import Fact, cpu_values, each_cpu

_VCGENCMD = re.compile(r"frequency\(\d+\)=(\d+)")


class Clocks(Fact):
    """``{"cpu0": 2400000000, ...}`` in hertz; ``arm`` instead where only the firmware tells."""

    commands: ClassVar = {
        "khz": each_cpu("cpufreq/scaling_cur_freq"),
        "vcgencmd": ("vcgencmd", "measure_clock", "arm"),
    }

    def parse(self, outputs: Mapping[str, str]) -> dict[str, int] | None:
        """By CPU, None where nothing tells."""
        found = {cpu: int(khz) * 1000 for cpu, khz in cpu_values(outputs["khz"]).items() if khz.isdigit()}
        if found:
            return found
        match = _VCGENCMD.search(outputs["vcgencmd"])
        return {"arm": int(match[1])} if match else None
