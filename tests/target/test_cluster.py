"""Clusters: which cores count for the peak."""

from __future__ import annotations

from cuvil_edge.target.cluster import Cluster, fastest_cpus, peak_f32_flops_per_second

BIG = Cluster("a76", (4, 5), 65536, 524288, max_hz=2_000_000_000, f32_fma_per_cycle=8)
ALSO_BIG = Cluster("a76", (6, 7), 65536, 524288, max_hz=2_000_000_000, f32_fma_per_cycle=8)
LITTLE = Cluster("a55", (0, 1), 32768, 131072, max_hz=1_000_000_000, f32_fma_per_cycle=4)
UNKNOWN = Cluster("?", (0,), 32768, 131072)


def test_equal_clusters_count_together() -> None:
    assert fastest_cpus((BIG, ALSO_BIG, LITTLE)) == (4, 5, 6, 7)
    assert fastest_cpus((LITTLE,)) == (0, 1)


def test_peak_of_the_fast_cores_and_of_a_number_of_threads() -> None:
    clusters = (BIG, ALSO_BIG, LITTLE)
    assert peak_f32_flops_per_second(clusters) == 4 * 32_000_000_000
    assert peak_f32_flops_per_second(clusters, 1) == 32_000_000_000
    assert peak_f32_flops_per_second(clusters, 5) == 4 * 32_000_000_000 + 8_000_000_000
    assert peak_f32_flops_per_second(clusters, 100) == 4 * 32_000_000_000 + 2 * 8_000_000_000


def test_an_unknown_clock_gives_no_peak_instead_of_zero() -> None:
    assert peak_f32_flops_per_second((UNKNOWN,)) is None
    assert peak_f32_flops_per_second((BIG, UNKNOWN), 2) == 64_000_000_000
    assert peak_f32_flops_per_second((BIG, UNKNOWN), 3) is None
