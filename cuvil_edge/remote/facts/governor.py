"""What decides the CPUs' clocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from cuvil_edge.remote.facts._base import Fact, cpu_values, each_cpu


class Governor(Fact):
    """``{"cpu0": "ondemand", ...}``."""

    commands: ClassVar = {"governors": each_cpu("cpufreq/scaling_governor")}

    def parse(self, outputs: Mapping[str, str]) -> dict[str, str] | None:
        """By CPU, None where the clocks are not scaled (or /sys is missing)."""
        return cpu_values(outputs["governors"]) or None
