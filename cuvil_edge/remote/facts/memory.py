"""The device's memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from cuvil_edge.remote.facts._base import Fact, key_values


class Memory(Fact):
    """``{"total_bytes": ..., "available_bytes": ...}``; available is what programs can still have without swapping."""

    commands: ClassVar = {"meminfo": ("cat", "/proc/meminfo"), "free": ("free", "-k")}

    def parse(self, outputs: Mapping[str, str]) -> dict[str, int] | None:
        """The sizes, None without /proc and without a ``free`` that does without it."""
        table = dict(key_values(outputs["meminfo"], ":"))
        sizes = {
            key: int(value.split()[0]) * 1024
            for key, value in table.items()
            if value.split()[:1] and value.split()[0].isdigit()
        }
        if "MemTotal" in sizes:
            # MemAvailable came with Linux 3.14.
            rough = sizes.get("MemFree", 0) + sizes.get("Cached", 0) + sizes.get("Buffers", 0)
            return {"total_bytes": sizes["MemTotal"], "available_bytes": sizes.get("MemAvailable", rough)}
        for line in outputs["free"].splitlines():
            fields = line.split()
            if fields[:1] == ["Mem:"] and len(fields) >= 4 and fields[1].isdigit() and int(fields[1]) > 0:
                available = fields[6] if len(fields) > 6 else fields[3]
                return {"total_bytes": int(fields[1]) * 1024, "available_bytes": int(available) * 1024}
        return None
