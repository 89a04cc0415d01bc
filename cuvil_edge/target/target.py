"""A target: everything that the compiler needs to know about the machine that a model is compiled for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cuvil_edge.errors import IncompatibleError
from cuvil_edge.target.cluster import Cluster, fastest_cpus
from cuvil_edge.target.cpu import Cpu
from cuvil_edge.target.host import read_host
from cuvil_edge.target.isa import CpuFlags, Isa, isa_names, load_isa
from cuvil_edge.units import format_bytes

GLIBC_BASELINE: Final = "2.28"
HOST: Final = "host"
"""The name of this machine as a target."""


@dataclass(frozen=True)
class Target:
    """A machine to compile for.

    Attributes:
        name: also a part of file names in the artifact.
        board: the board's name, or None for this machine.
        isa: name of the instruction set (``targets/isa``).
        arch: as ``uname -m`` prints it.
        cpu: the CPU as zig's ``-mcpu`` spells it.
        cpu_flags: the same for every compiler family.
        required_features: all that the compiler may use, as /proc/cpuinfo spells them.
        clusters: at least one, the fastest first.
        qemu_cpu: the model for ``qemu-<arch> -cpu`` that has all required features, if there is one.
    """

    name: str
    board: str | None
    isa: str
    arch: str
    cpu_flags: CpuFlags
    required_features: tuple[str, ...]
    clusters: tuple[Cluster, ...]
    qemu_cpu: str | None = None

    @property
    def cpu(self) -> str:
        """The CPU in zig's spelling."""
        return self.cpu_flags.zig

    @property
    def instruction_set(self) -> Isa:
        """Vector width, lanes, registers and the header's name."""
        return load_isa(self.isa)

    @property
    def shared_triple(self) -> str:
        """The toolchain of the library that the runtime loads."""
        return f"{self.arch}-linux-gnu.{GLIBC_BASELINE}"

    @property
    def static_triple(self) -> str:
        """The toolchain of the program that runs on a device."""
        return f"{self.arch}-linux-musl"

    @property
    def l1d_bytes(self) -> int:
        """First data cache of one core of the fastest cluster."""
        return self.clusters[0].l1d_bytes

    @property
    def l2_bytes(self) -> int:
        """Second cache that one core of the fastest cluster can count on: its share, if cores share it."""
        return self.clusters[0].l2_bytes // self.clusters[0].l2_shared_by

    @property
    def l3_bytes(self) -> int:
        """Third cache of the fastest cluster, shared by its cores; 0 if there is none."""
        return self.clusters[0].l3_bytes

    @property
    def cores(self) -> int:
        """Cores that a run uses unless it is told otherwise: all that are as fast as the fastest."""
        return len(fastest_cpus(self.clusters))

    def has_feature(self, name: str) -> bool:
        """True if code for this target may use the feature (spelled as in /proc/cpuinfo)."""
        return name in self.required_features

    def describe(self) -> str:
        """One line for the user."""
        parts = [f"{self.name}: {self.instruction_set.title}", f"cpu {self.cpu}", f"{self.cores} cores"]
        caches = ((self.l1d_bytes, "L1d"), (self.l2_bytes, "L2"), (self.l3_bytes, "L3"))
        return ", ".join(parts + [f"{name} {format_bytes(size)}" for size, name in caches if size])


def host_target(isa: str | None = None, *, root: Path = Path("/"), machine: str | None = None) -> Target:
    """This machine, with the best instruction set that all of its CPUs have, or with ``isa``.

    The code uses exactly the instructions of that instruction set (or of the CPU model, where all CPUs are of one known
    model), all of which are in the target's ``required_features``: never more than the CPUs report, never "native".

    Args:
        isa: the instruction set to compile for; None chooses.
        root: where /proc and /sys are found.
        machine: the architecture; None asks the operating system.

    Raises:
        ConfigError: there is no such instruction set.
        IncompatibleError: the machine lacks its features.
        UnsupportedError: cuvil-edge has no instruction sets for this architecture.
    """
    host = read_host(root, machine)
    best = _best_isa(host.arch, host.features)
    chosen = best if isa is None else load_isa(isa)
    if not chosen.runs_on(host.arch):
        raise _wrong_arch(chosen, host.arch)
    refuse_missing(chosen, host.features, "this machine")
    flags, required = chosen.cpu[host.arch], chosen.required_features
    # A hypervisor can hide instructions of a model, and a lesser instruction set must not get the model's.
    if host.cpu is not None and chosen.name == best.name and set(host.cpu.features) <= set(host.features):
        flags, required = host.cpu.flags, host.cpu.features
    return Target(
        name=HOST if isa is None else f"{HOST}-{isa}",
        board=None,
        isa=chosen.name,
        arch=host.arch,
        cpu_flags=flags,
        required_features=required,
        clusters=host.clusters,
    )


def _best_isa(arch: str, features: tuple[str, ...]) -> Isa:
    known = [load_isa(name) for name in isa_names()]
    usable = [isa for isa in known if isa.runs_on(arch) and set(isa.required_features) <= set(features)]
    return max(usable, key=lambda isa: isa.rank)


def _wrong_arch(isa: Isa, arch: str) -> IncompatibleError:
    names = [name for name in isa_names() if load_isa(name).runs_on(arch)]
    return IncompatibleError(
        "the instruction set is of another architecture",
        thing=isa.name,
        expected=f"one of {arch}: " + ", ".join(names),
        found=isa.arch,
    )


def choose_code(isa: Isa, default: Isa, cpu: Cpu) -> tuple[CpuFlags, tuple[str, ...]]:
    """Compiler flags and required features for code of ``isa`` on a CPU model whose own instruction set is ``default``.

    An instruction set at or above the CPU's own is compiled for that very model; one below it is compiled for no more
    than itself, so that its code shows what the instruction set alone can do and runs wherever it exists.

    Raises:
        IncompatibleError: the CPU is of another architecture, or lacks a feature.
    """
    if not isa.runs_on(cpu.arch):
        raise _wrong_arch(isa, cpu.arch)
    refuse_missing(isa, cpu.features, cpu.title)
    if isa.name == default.name or set(isa.required_features) >= set(default.required_features):
        return cpu.flags, cpu.features
    return isa.cpu[cpu.arch], isa.required_features


def refuse_missing(isa: Isa, features: tuple[str, ...], thing: str) -> None:
    """Raises IncompatibleError, naming what is missing, unless ``features`` hold all that ``isa`` requires."""
    missing = [name for name in isa.required_features if name not in features]
    if missing:
        raise IncompatibleError(
            f"{thing} lacks instructions of {isa.name}",
            thing=isa.name,
            expected="features: " + " ".join(isa.required_features),
            found="missing: " + " ".join(missing),
            hint="choose another instruction set, or leave the choice to cuvil-edge",
        )
