"""Boards: types of hardware. One file each in ``boards/``; "host" is this machine, made when it is asked for."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cuvil_edge.errors import UsageError
from cuvil_edge.fields import Fields
from cuvil_edge.profile.records import BoardLimits
from cuvil_edge.target.cluster import Cluster, peak_f32_flops_per_second
from cuvil_edge.target.cpu import Cpu, load_cpu
from cuvil_edge.target.data import data_names, load_data, unknown_name
from cuvil_edge.target.host import read_processors
from cuvil_edge.target.isa import load_isa
from cuvil_edge.target.target import HOST, Target, choose_code, host_target


@dataclass(frozen=True)
class OsBaseline:
    """The oldest system that is expected on the board, with its versions of glibc and of the kernel."""

    name: str
    glibc: str
    kernel: str


@dataclass(frozen=True)
class Sensors:
    """Where a board tells its state.

    ``thermal_zones`` are types as in /sys/class/thermal/thermal_zone*/type (their numbers change with the kernel).
    The commands print whether the clock was held back ("vcgencmd get_throttled") and the power mode.
    """

    thermal_zones: tuple[str, ...] = ()
    throttle_command: tuple[str, ...] = ()
    power_mode_command: tuple[str, ...] = ()


@dataclass(frozen=True)
class Board:
    """A type of hardware; no address, no user, no secret.

    ``clusters`` start with the fastest. Sizes and rates that are unknown are None.
    """

    name: str
    title: str
    soc: str | None
    arch: str
    isa: str
    clusters: tuple[Cluster, ...]
    memory_bytes: int | None
    memory_bytes_per_second: int | None
    system: OsBaseline | None
    sensors: Sensors

    def target(self, isa: str | None = None) -> Target:
        """What to compile for; another instruction set than the board's own can be asked for.

        Raises:
            ConfigError: there is no such instruction set.
            IncompatibleError: the board's CPUs do not have it.
        """
        if self.name == HOST:
            return host_target(isa)
        cpu = load_cpu(self.clusters[0].cpu)
        chosen = load_isa(isa or self.isa)
        flags, required = choose_code(chosen, load_isa(self.isa), cpu)
        return Target(
            name=self.name if chosen.name == self.isa else f"{self.name}-{chosen.name}",
            board=self.name,
            isa=chosen.name,
            arch=self.arch,
            cpu_flags=flags,
            required_features=required,
            clusters=self.clusters,
            qemu_cpu=cpu.qemu,
        )

    def limits(self, threads: int | None = None) -> BoardLimits:
        """The roofs of the roofline: peak f32 FLOP/s of the fastest ``threads`` cores, and memory bytes per second.

        None stands for all cores that are as fast as the fastest; a limit that is unknown is None.
        """
        return BoardLimits(
            peak_flops_per_second=peak_f32_flops_per_second(self.clusters, threads),
            memory_bytes_per_second=self.memory_bytes_per_second,
        )

    @property
    def core_count(self) -> int:
        """All cores, fast and slow."""
        return sum(len(cluster.cpus) for cluster in self.clusters)


def board_names() -> tuple[str, ...]:
    """All boards, sorted, and "host" at the end."""
    return (*data_names("boards"), HOST)


def load_board(name: str) -> Board:
    """The board of that name.

    Raises:
        UsageError: there is no such board; the hint names the nearest.
        ConfigError: a mistake in its file, named by file and key.
    """
    if name == HOST:
        return host_board()
    if name not in data_names("boards"):
        error = unknown_name(name, board_names(), "board")
        raise UsageError(error.what, thing=name, expected=error.expected, hint=error.hint)
    return _load(name)


@cache
def _load(name: str) -> Board:
    return read_board(name, load_data(name, "boards", kind="board"))


def read_board(name: str, fields: Fields) -> Board:
    """The board that a file describes; raises ConfigError naming the file and the key."""
    clusters = tuple(_cluster(part) for part in fields.sections("clusters"))
    if not clusters:
        raise fields.fault("clusters", "is empty", expected="at least one cluster")
    memory: Fields | None = fields.section("memory", None)
    system: Fields = fields.section("system")
    board = Board(
        name=name,
        title=fields.text("title"),
        soc=fields.text("soc", None),
        arch=load_cpu(clusters[0].cpu).arch,
        isa=fields.text("isa"),
        clusters=clusters,
        memory_bytes=memory.integer("size_bytes", minimum=1) if memory else None,
        memory_bytes_per_second=memory.integer("bandwidth_bytes_per_second", minimum=1) if memory else None,
        system=OsBaseline(system.text("name"), _version(system, "glibc"), _version(system, "kernel")),
        sensors=_sensors(fields.section("sensors", None)),
    )
    for table in (memory, system, fields):
        if table is not None:
            table.refuse_unknown()
    _check(board, fields)
    return board


def _cluster(fields: Fields) -> Cluster:
    cpu = _cpu(fields)
    cluster = Cluster(
        cpu=cpu.name,
        cpus=fields.integers("cpus"),
        l1d_bytes=fields.integer("l1d_bytes", minimum=1024),
        l2_bytes=fields.integer("l2_bytes", minimum=1024),
        l2_shared_by=fields.integer("l2_shared_by", 1, minimum=1),
        l3_bytes=fields.integer("l3_bytes", 0),
        max_hz=fields.integer("max_hz", None, minimum=1_000_000),
        f32_fma_per_cycle=cpu.f32_fma_per_cycle,
    )
    if not cluster.cpus:
        raise fields.fault("cpus", "is empty", expected="the numbers of the cluster's CPUs")
    fields.refuse_unknown()
    return cluster


def _cpu(fields: Fields) -> Cpu:
    known = data_names("targets", "cpu")
    return load_cpu(fields.text("cpu", choices=known))


def _sensors(fields: Fields | None) -> Sensors:
    if fields is None:
        return Sensors()
    sensors = Sensors(
        thermal_zones=fields.texts("thermal_zones", ()),
        throttle_command=fields.texts("throttle_command", ()),
        power_mode_command=fields.texts("power_mode_command", ()),
    )
    fields.refuse_unknown()
    return sensors


def _version(fields: Fields, key: str) -> str:
    pattern = re.compile(r"\d+(\.\d+)+")
    return str(fields.text(key, pattern=pattern, expected="a version such as 2.31"))


def _check(board: Board, fields: Fields) -> None:
    isa = load_isa(fields.text("isa"))
    first = load_cpu(board.clusters[0].cpu)
    seen: set[int] = set()
    for index, cluster in enumerate(board.clusters):
        where = f"clusters[{index}]"
        cpu = load_cpu(cluster.cpu)
        if seen & set(cluster.cpus) or len(set(cluster.cpus)) != len(cluster.cpus):
            raise fields.fault(f"{where}.cpus", "names a CPU twice")
        seen |= set(cluster.cpus)
        missing = [name for name in (*isa.required_features, *first.features) if name not in cpu.features]
        if cpu.arch != board.arch or not isa.runs_on(cpu.arch) or missing:
            raise fields.fault(
                f"{where}.cpu",
                "cannot run the code of this board",
                expected=f"the features of {isa.name} and of {first.name}, the first cluster's CPU",
                found="missing: " + (" ".join(missing) or f"architecture {board.arch}"),
            )
        if (cluster.core_f32_flops_per_second or 0) > (board.clusters[0].core_f32_flops_per_second or 0):
            raise fields.fault(where, "is faster than the first cluster", expected="the fastest cluster first")


def host_board(root: Path = Path("/")) -> Board:
    """This machine as a board: what /proc and /sys tell, and no more."""
    target = host_target(root=root)
    processors = read_processors(root)
    libc, version = platform.libc_ver()
    return Board(
        name=HOST,
        title=f"This machine ({processors[0].model if processors else target.arch})",
        soc=None,
        arch=target.arch,
        isa=target.isa,
        clusters=target.clusters,
        memory_bytes=_memory_bytes(root),
        memory_bytes_per_second=None,
        system=OsBaseline(platform.system(), version if libc == "glibc" else "0.0", platform.release()),
        sensors=Sensors(thermal_zones=("x86_pkg_temp", "cpu-thermal", "soc-thermal", "acpitz")),
    )


def _memory_bytes(root: Path) -> int | None:
    try:
        text = (root / "proc/meminfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    match = re.search(r"^MemTotal:\s*(\d+) kB", text, re.MULTILINE)
    return int(match[1]) * 1024 if match else None
