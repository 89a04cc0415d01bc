"""The plugin that counts executed instructions under qemu: built on first use, and what it wrote."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cuvil_edge.config import Config
from cuvil_edge.errors import CompileError, RemoteCommandError
from cuvil_edge.paths import data_dir

_FLAGS = ("-std=c11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-z,lazy")
_BUILD_SECONDS = 300


def plugin_path(config: Config) -> Path:
    """The built plugin in the user's cache; one for each version of its source.

    Raises:
        CompileError: no compiler can build it, or the cache cannot be written.
    """
    source = data_dir("csrc") / "emulator" / "count_instructions.c"
    try:
        key = hashlib.sha256(source.read_bytes() + " ".join(_FLAGS).encode()).hexdigest()[:16]
        target = config.cache_dir / "emulator" / f"count_instructions-{key}.so"
        if target.exists():
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            built = Path(folder) / target.name
            _build(source, built)
            os.replace(built, target)
    except OSError as error:
        found = error.strerror or str(error)
        raise CompileError("cannot build the instruction counter", thing=str(source), found=found) from None
    return target


def compilers() -> list[list[str]]:
    """Commands of C compilers for this machine, best first: the one that comes with the package, then the system's."""
    found = [[sys.executable, "-m", "ziglang", "cc"]]
    return found + [[path] for name in ("cc", "gcc", "clang") if (path := shutil.which(name)) is not None]


def _build(source: Path, target: Path) -> None:
    details = []
    for compiler in compilers():
        try:
            done = subprocess.run(
                [*compiler, *_FLAGS, str(source), "-o", str(target)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_BUILD_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            details.append(f"{' '.join(compiler)}: {error}")
            continue
        if done.returncode == 0 and target.exists():
            return
        words = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        details.append(f"{' '.join(compiler)}: {words[-1]}")
    raise CompileError(
        "cannot build the instruction counter",
        thing=str(source),
        details=tuple(details),
        hint="install a compiler: pip install ziglang, or apt-get install gcc",
    )


def read_counts(file: Path, step_count: int, label: str) -> tuple[int, ...]:
    """Instructions of each step, from the lines "step+1 instructions" that the plugin wrote.

    Raises:
        RemoteCommandError: there is not a count for each step.
    """
    counts: dict[int, int] = {}
    try:
        lines = file.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    for line in lines:
        fields = line.split()
        if len(fields) == 2 and all(field.isdigit() for field in fields):
            step = int(fields[0]) - 1
            counts[step] = counts.get(step, 0) + int(fields[1])
    if sorted(counts) != list(range(step_count)):
        raise RemoteCommandError(
            "the emulator did not count every step",
            thing=label,
            expected=f"{step_count} counts",
            found=f"{_within(counts, step_count)} counts",
        )
    return tuple(counts[step] for step in range(step_count))


def _within(counts: dict[int, int], step_count: int) -> int:
    steps: Sequence[int] = range(step_count)
    return sum(step in steps for step in counts)
