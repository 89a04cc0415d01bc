"""The operating system's name."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import ClassVar

from cuvil_edge.remote.facts._base import Fact, key_values


class OsRelease(Fact):
    """``"Debian GNU/Linux 12 (bookworm)"``."""

    commands: ClassVar = {"os_release": ("sh", "-c", "cat /etc/os-release || cat /usr/lib/os-release")}

    def parse(self, outputs: Mapping[str, str]) -> str | None:
        """PRETTY_NAME, else NAME; None without the file."""
        table = dict(key_values(outputs["os_release"], "="))
        text = table.get("PRETTY_NAME") or table.get("NAME") or ""
        words = shlex.split(text) if text.count('"') % 2 == 0 and text.count("'") % 2 == 0 else [text]
        return " ".join(words).strip() or None
