"""Instruction sets: what the kernels are written for. One file each in ``targets/isa/``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from cuvil_edge.fields import Fields
from cuvil_edge.target.data import data_names, load_data

ARCHITECTURES: Final = ("aarch64", "x86_64")
"""As ``uname -m`` prints them."""
COMPILERS: Final = ("zig", "gcc", "clang")
"""Compiler families; each spells CPU models in its own way."""


@dataclass(frozen=True)
class CpuFlags:
    """How the compilers are told for which CPU to compile: zig's ``-mcpu`` value, and argument lists of the others."""

    zig: str
    gcc: tuple[str, ...]
    clang: tuple[str, ...]

    def arguments(self, compiler: str) -> tuple[str, ...]:
        """The arguments for a compiler family."""
        if compiler == "zig":
            return (f"-mcpu={self.zig}",)
        return self.gcc if compiler == "gcc" else self.clang


@dataclass(frozen=True)
class Isa:
    """An instruction set.

    ``arch`` is an architecture, or "any". ``required_features`` are spelled as in /proc/cpuinfo. ``simd`` is the name
    of the header in ``csrc/simd``. A higher ``rank`` is preferred when a CPU has several. ``cpu`` holds, for each
    architecture, the flags of a CPU that has exactly the required features.
    """

    name: str
    title: str
    arch: str
    rank: int
    required_features: tuple[str, ...]
    vector_bits: int
    f32_lanes: int
    vector_registers: int
    simd: str
    cpu: Mapping[str, CpuFlags]

    def runs_on(self, arch: str) -> bool:
        """True if this is an instruction set of the architecture."""
        return arch in self.cpu


def isa_names() -> tuple[str, ...]:
    """All instruction sets, sorted by name."""
    return data_names("targets", "isa")


@cache
def load_isa(name: str) -> Isa:
    """The instruction set of that name; raises ConfigError for an unknown one and for a mistake in its file."""
    fields = load_data(name, "targets", "isa", kind="instruction set")
    arch = fields.text("arch", choices=(*ARCHITECTURES, "any"))
    cpus: Fields = fields.section("cpu")
    bits = fields.integer("vector_bits", minimum=32, maximum=4096)
    isa = Isa(
        name=name,
        title=fields.text("title"),
        arch=arch,
        rank=fields.integer("rank"),
        required_features=fields.texts("required_features"),
        vector_bits=bits,
        f32_lanes=fields.integer("f32_lanes", minimum=1, maximum=bits // 32),
        vector_registers=fields.integer("vector_registers", minimum=1),
        simd=fields.text("simd"),
        cpu={key: read_cpu_flags(cpus.section(key)) for key in (ARCHITECTURES if arch == "any" else (arch,))},
    )
    for table in (cpus, fields):
        table.refuse_unknown()
    return isa


def read_cpu_flags(fields: Fields, *, is_whole_table: bool = True) -> CpuFlags:
    """The keys ``zig``, ``gcc`` and ``clang`` of a table."""
    flags = CpuFlags(fields.text("zig"), fields.texts("gcc"), fields.texts("clang"))
    if is_whole_table:
        fields.refuse_unknown()
    return flags
