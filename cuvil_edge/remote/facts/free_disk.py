"""The space where installations go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from cuvil_edge.remote.facts._base import Fact

# The folder may not exist yet: its nearest parent that does.
_DF = 'd=$CUVIL_ROOT; while [ ! -d "$d" ]; do case $d in */*) d=${d%/*};; *) d=.;; esac; d=${d:-/}; done; df -P -k "$d"'


class FreeDisk(Fact):
    """``{"available_bytes": ..., "total_bytes": ...}`` of the file system under the root, for this user."""

    commands: ClassVar = {"df": ("sh", "-c", _DF)}

    def parse(self, outputs: Mapping[str, str]) -> dict[str, int] | None:
        """The sizes, None without ``df`` (or where it cannot see the file system)."""
        lines = outputs["df"].strip().splitlines()
        fields = lines[-1].split() if len(lines) >= 2 else []
        numbers = [index for index, text in enumerate(fields) if text.isdigit()]
        # A device name with blanks moves the columns: total, used, available stand before the percentage.
        first = next(
            (
                i
                for i in numbers
                if {i + 1, i + 2} <= set(numbers) and fields[i + 3 : i + 4] and fields[i + 3].endswith("%")
            ),
            None,
        )
        if first is None or int(fields[first]) == 0:
            return None
        return {"available_bytes": int(fields[first + 2]) * 1024, "total_bytes": int(fields[first]) * 1024}
