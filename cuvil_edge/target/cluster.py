"""Clusters of CPUs of one kind, with their caches and clock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Cluster:
    """CPUs of one kind.

    Attributes:
        cpu: the CPU model (``targets/cpu``), or what the machine calls it.
        cpus: their numbers.
        l1d_bytes: first data cache of each core.
        l2_bytes: second cache, shared by ``l2_shared_by`` cores.
        l3_bytes: third cache that all cores of the cluster share, perhaps with other clusters; 0 if there is none.
        max_hz: highest clock; None where unknown, as on a virtual machine.
        f32_fma_per_cycle: multiply-adds of one core in a cycle; None where unknown.
    """

    cpu: str
    cpus: tuple[int, ...]
    l1d_bytes: int
    l2_bytes: int
    l2_shared_by: int = 1
    l3_bytes: int = 0
    max_hz: int | None = None
    f32_fma_per_cycle: int | None = None

    @property
    def core_f32_flops_per_second(self) -> int | None:
        """Peak of one core: clock x multiply-adds a cycle x 2; None where unknown."""
        if self.max_hz is None or self.f32_fma_per_cycle is None:
            return None
        return self.max_hz * self.f32_fma_per_cycle * 2

    def is_like(self, other: Cluster) -> bool:
        """True if cores of both are equally fast."""
        return (self.cpu, self.max_hz) == (other.cpu, other.max_hz)


def fastest_cpus(clusters: Iterable[Cluster]) -> tuple[int, ...]:
    """The CPUs that are as fast as those of the first cluster: those that a run uses unless it is told otherwise."""
    listed = list(clusters)
    return tuple(number for cluster in listed if cluster.is_like(listed[0]) for number in cluster.cpus)


def peak_f32_flops_per_second(clusters: Iterable[Cluster], threads: int | None = None) -> int | None:
    """Peak of ``threads`` threads on the fastest cores (None: on all cores like the fastest); None where unknown."""
    listed = list(clusters)
    cores = [cluster.core_f32_flops_per_second for cluster in listed for _ in cluster.cpus]
    used = cores[: len(fastest_cpus(listed)) if threads is None else max(1, threads)]
    return None if None in used else sum(value for value in used if value is not None)
