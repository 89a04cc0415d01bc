"""How long the device has been up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from cuvil_edge.remote.facts._base import Fact

_UP = re.compile(r"up +(?:(\d+) days?, +)?(?:(\d+):(\d\d)|(\d+) min)")


class Uptime(Fact):
    """``{"up_seconds": 86400}``."""

    commands: ClassVar = {"proc": ("cat", "/proc/uptime"), "uptime": ("uptime",)}

    def parse(self, outputs: Mapping[str, str]) -> dict[str, int] | None:
        """Whole seconds (whole minutes without /proc), None where nothing tells."""
        first = outputs["proc"].split()[:1]
        if first and re.fullmatch(r"\d+\.\d+", first[0]):
            return {"up_seconds": int(first[0].partition(".")[0])}
        if match := _UP.search(outputs["uptime"]):
            days, hours, minutes, only_minutes = (int(text or 0) for text in match.groups())
            return {"up_seconds": days * 86400 + hours * 3600 + (minutes + only_minutes) * 60}
        return None
