"""The kinds of CPU cores, and which CPUs are of which kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from cuvil_edge.remote.facts._base import Fact, cpu_values, each_cpu, key_values
from cuvil_edge.target.cpu import find_cpu


class CpuClusters(Fact):
    """A list of ``{"cpus": [4, 5, 6, 7], "max_hz": ..., "cpu": "cortex_a76"}``, the fastest first.

    ``max_hz`` and ``cpu`` are left out where they are not known.
    """

    commands: ClassVar = {
        "machine": ("uname", "-m"),
        "cpuinfo": ("cat", "/proc/cpuinfo"),
        "max_khz": each_cpu("cpufreq/cpuinfo_max_freq"),
    }

    def parse(self, outputs: Mapping[str, str]) -> list[dict[str, Any]] | None:
        """The clusters, None if the CPUs are not told apart."""
        # Under qemu-user, /proc/cpuinfo may be that of the machine below.
        is_foreign = outputs["machine"].strip() == "aarch64" and "CPU part" not in outputs["cpuinfo"]
        kinds = {} if is_foreign else _kinds(outputs["cpuinfo"])
        speeds = {int(cpu[3:]): int(khz) * 1000 for cpu, khz in cpu_values(outputs["max_khz"]).items() if khz.isdigit()}
        groups: dict[tuple[str | None, int], list[int]] = {}
        for cpu in sorted(kinds.keys() | speeds.keys()):
            groups.setdefault((kinds.get(cpu), speeds.get(cpu, 0)), []).append(cpu)
        if not groups:
            return None
        ordered = sorted(groups.items(), key=lambda item: (-item[0][1], item[1]))
        return [
            {"cpus": cpus, **({"max_hz": speed} if speed else {}), **({"cpu": kind} if kind else {})}
            for (kind, speed), cpus in ordered
        ]


def _kinds(cpuinfo: str) -> dict[int, str | None]:
    kinds: dict[int, str | None] = {}
    cpu, implementer = None, ""
    for key, value in key_values(cpuinfo, ":"):
        if key == "processor" and value.isdigit():
            cpu, implementer = int(value), ""
            kinds[cpu] = None
        elif key == "CPU implementer":
            implementer = value.lower()
        elif key == "CPU part" and cpu is not None:
            known = find_cpu(_number(implementer), _number(value))
            kinds[cpu] = known.name if known else f"implementer {implementer} part {value.lower()}"
        elif key == "model name" and cpu is not None and kinds[cpu] is None and not value.startswith("ARM"):
            kinds[cpu] = value
    return kinds


def _number(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None
