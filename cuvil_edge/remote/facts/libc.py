"""The C library that programs of the device use (ours bring their own)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from cuvil_edge.remote.facts._base import Fact

_GLIBC = re.compile(r"(?:GLIBC|GNU libc|glibc)[^\n]*?(\d+\.\d+)[^\d\n]*$", re.MULTILINE)
_MUSL = re.compile(r"musl libc.*?Version (\d+\.\d+(?:\.\d+)?)", re.DOTALL)


class Libc(Fact):
    """``"glibc 2.36"`` or ``"musl 1.2.4"``."""

    commands: ClassVar = {
        "getconf": ("getconf", "GNU_LIBC_VERSION"),
        "ldd": ("sh", "-c", "ldd --version 2>&1"),
    }

    def parse(self, outputs: Mapping[str, str]) -> str | None:
        """The name and version, None where no tool tells (busybox)."""
        if match := re.fullmatch(r"glibc (\d+\.\d+)", outputs["getconf"].strip()):
            return f"glibc {match[1]}"
        if match := _MUSL.search(outputs["ldd"]):
            return f"musl {match[1]}"
        first = outputs["ldd"].splitlines()[:1]
        if first and (match := _GLIBC.search(first[0])):
            return f"glibc {match[1]}"
        return None
