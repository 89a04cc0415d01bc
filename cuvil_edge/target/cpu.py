"""CPU models: which instructions a core really has and how fast it multiplies. One file each in ``targets/cpu/``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from cuvil_edge.target.data import data_names, load_data
from cuvil_edge.target.isa import ARCHITECTURES, CpuFlags, read_cpu_flags


@dataclass(frozen=True)
class Cpu:
    """A CPU model.

    ``features`` (as in /proc/cpuinfo) cover every instruction that compilers may emit with ``flags``. ``implementer``
    and ``part`` identify the model in /proc/cpuinfo of an ARM system. ``qemu`` is the nearest model that qemu-user has.
    ``f32_fma_per_cycle`` counts multiply-adds of one core (a multiply-add is two FLOPs); None where nobody has
    published it.
    """

    name: str
    title: str
    arch: str
    features: tuple[str, ...]
    flags: CpuFlags
    implementer: int | None
    part: int | None
    qemu: str | None
    f32_fma_per_cycle: int | None


def cpu_names() -> tuple[str, ...]:
    """All CPU models, sorted by name."""
    return data_names("targets", "cpu")


@cache
def load_cpu(name: str) -> Cpu:
    """The CPU model of that name; raises ConfigError for an unknown one and for a mistake in its file."""
    fields = load_data(name, "targets", "cpu", kind="CPU model")
    cpu = Cpu(
        name=name,
        title=fields.text("title"),
        arch=fields.text("arch", choices=ARCHITECTURES),
        features=fields.texts("features"),
        flags=read_cpu_flags(fields, is_whole_table=False),
        implementer=fields.integer("implementer", None, maximum=0xFF),
        part=fields.integer("part", None, maximum=0xFFF),
        qemu=fields.text("qemu", None),
        f32_fma_per_cycle=fields.integer("f32_fma_per_cycle", None, minimum=1),
    )
    fields.refuse_unknown()
    return cpu


def find_cpu(implementer: int | None, part: int | None) -> Cpu | None:
    """The known CPU model with these identifiers, or None."""
    if implementer is None or part is None:
        return None
    known = (load_cpu(name) for name in cpu_names())
    return next((cpu for cpu in known if (cpu.implementer, cpu.part) == (implementer, part)), None)
