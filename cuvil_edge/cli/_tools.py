"""The programs of this machine that compiling and emulating need."""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import dataclass


@dataclass(frozen=True)
class Tool:
    """A program, what it is for, and where it is (None: it is not)."""

    name: str
    use: str
    found: str | None


def tools_here() -> list[Tool]:
    """Which of them this machine has. Nothing is started."""
    zig = importlib.util.find_spec("ziglang")
    return [
        Tool("zig", "compiles for every board (pip install ziglang)", zig.origin if zig is not None else None),
        Tool("g++", "compiles with --compiler gcc", shutil.which("g++")),
        Tool("clang++", "compiles with --compiler clang", shutil.which("clang++")),
        Tool(
            "qemu-aarch64",
            "runs ARM64 programs here (apt-get install qemu-user)",
            shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static"),
        ),
    ]
