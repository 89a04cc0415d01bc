"""Toolchains: how to build for a triple. One file each in ``targets/toolchains/``, with one table a compiler family."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from dataclasses import dataclass
from functools import cache

from cuvil_edge.fields import Fields
from cuvil_edge.target.data import data_names, load_data, unknown_name
from cuvil_edge.target.isa import ARCHITECTURES, COMPILERS
from cuvil_edge.target.target import Target


@dataclass(frozen=True)
class Toolchain:
    """A compiler for a triple.

    ``command`` and ``archive`` start an argument list (never a shell line). ``libc`` is "gnu" or "musl";
    ``libc_version`` is the oldest version that a program built here runs with: promised by zig only, other compilers
    link with whatever libc they are installed with (``pins_libc``).
    """

    triple: str
    arch: str
    libc: str
    libc_version: str | None
    compiler: str
    command: tuple[str, ...]
    archive: tuple[str, ...]
    package: str | None

    @property
    def is_static(self) -> bool:
        """True if programs of this triple are linked fully statically."""
        return self.libc == "musl"

    @property
    def pins_libc(self) -> bool:
        """True if the compiler brings the libc of the triple along, so that ``libc_version`` holds."""
        return self.compiler == "zig"

    def cpu_arguments(self, target: Target) -> tuple[str, ...]:
        """The arguments that make this compiler emit code for the target's CPU and for no more."""
        return target.cpu_flags.arguments(self.compiler)

    def missing(self) -> str | None:
        """Why the compiler cannot be run on this machine, with the remedy, or None."""
        if self.package is not None:
            if importlib.util.find_spec(self.package) is None:
                return f"the Python package {self.package} is not installed (pip install {self.package})"
            return None
        if shutil.which(self.command[0]) is None:
            return f"the program {self.command[0]} is not installed"
        return None


def toolchain_triples() -> tuple[str, ...]:
    """All triples, sorted."""
    return data_names("targets", "toolchains")


@cache
def load_toolchain(triple: str, compiler: str = "zig") -> Toolchain:
    """The toolchain for a triple ("aarch64-linux-musl") and a compiler family ("zig", "gcc", "clang").

    Raises:
        ConfigError: an unknown triple or compiler, or a mistake in the file.
    """
    fields = load_data(triple, "targets", "toolchains", kind="toolchain")
    compilers: Fields = fields.section("compilers")
    if compiler not in compilers.names() or compiler not in COMPILERS:
        raise unknown_name(compiler, compilers.names(), f"compiler for {triple}")
    table: Fields = compilers.section(compiler)
    toolchain = Toolchain(
        triple=triple,
        arch=fields.text("arch", choices=ARCHITECTURES),
        libc=fields.text("libc", choices=("gnu", "musl")),
        libc_version=fields.text("libc_version", None),
        compiler=compiler,
        command=_command(table, "command"),
        archive=_command(table, "archive"),
        package=table.text("package", None),
    )
    for part in (table, fields):
        part.refuse_unknown()
    return toolchain


def _command(table: Fields, key: str) -> tuple[str, ...]:
    words: tuple[str, ...] = table.texts(key)
    if not words:
        raise table.fault(key, "is empty", expected="a program and its first arguments")
    return tuple(word.replace("{python}", sys.executable) for word in words)
