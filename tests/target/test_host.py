"""This machine: read from /proc and /sys, and from as little as there is of them."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from cuvil_edge.errors import UnsupportedError
from cuvil_edge.target.host import read_host, read_processors

ARM_FEATURES = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp"
RK3588 = "".join(
    f"processor\t: {number}\nBogoMIPS\t: 48.00\nFeatures\t: {ARM_FEATURES}\nCPU implementer\t: 0x41\n"
    f"CPU architecture: 8\nCPU variant\t: 0x2\nCPU part\t: {'0xd05' if number < 4 else '0xd0b'}\nCPU revision\t: 0\n\n"
    for number in range(8)
)


def _machine(root: Path, cpuinfo: str, khz: dict[int, int] | None = None) -> Path:
    (root / "proc").mkdir(parents=True, exist_ok=True)
    (root / "proc/cpuinfo").write_text(cpuinfo)
    for number, value in (khz or {}).items():
        folder = root / f"sys/devices/system/cpu/cpu{number}"
        (folder / "cpufreq").mkdir(parents=True)
        (folder / "cpufreq/cpuinfo_max_freq").write_text(f"{value}\n")
        caches = (("Data", 1, "64K", number), ("Instruction", 1, "64K", number), ("Unified", 2, "512K", number))
        for index, (kind, level, size, shared) in enumerate((*caches, ("Unified", 3, "3M", "0-7"))):
            cache = folder / f"cache/index{index}"
            cache.mkdir(parents=True)
            for name, content in (("type", kind), ("level", level), ("size", size), ("shared_cpu_list", shared)):
                (cache / name).write_text(f"{content}\n")
    return root


def test_big_and_little_cores_become_clusters_with_the_fast_one_first(tmp_path: Path) -> None:
    khz = {number: 1_800_000 if number < 4 else 2_400_000 for number in range(8)}
    host = read_host(_machine(tmp_path, RK3588, khz), "aarch64")
    assert [cluster.cpu for cluster in host.clusters] == ["cortex_a76", "cortex_a55"]
    assert [cluster.cpus for cluster in host.clusters] == [(4, 5, 6, 7), (0, 1, 2, 3)]
    first = host.clusters[0]
    assert (first.l1d_bytes, first.l2_bytes, first.l2_shared_by, first.l3_bytes) == (65536, 524288, 1, 3 << 20)
    assert (first.max_hz, first.f32_fma_per_cycle) == (2_400_000_000, 8)
    assert host.cpu is None


def test_features_are_those_that_all_cpus_have(tmp_path: Path) -> None:
    mixed = RK3588.replace(ARM_FEATURES, "fp asimd crc32", 1)
    assert read_host(_machine(tmp_path, mixed), "aarch64").features == ("asimd", "crc32", "fp")


def test_a_single_known_model_is_recognised(tmp_path: Path) -> None:
    host = read_host(_machine(tmp_path, RK3588[RK3588.index("processor\t: 4") :]), "arm64")
    assert host.arch == "aarch64"
    assert host.cpu is not None
    assert host.cpu.name == "cortex_a76"


def test_without_proc_the_auxiliary_vector_or_the_baseline_is_used(tmp_path: Path) -> None:
    assert read_host(tmp_path, "aarch64").features == ("asimd",)
    assert read_host(tmp_path, "x86_64").features == ()
    (tmp_path / "proc/self").mkdir(parents=True)
    vector = struct.pack("<6Q", 6, 4096, 16, 1 << 1 | 1 << 20, 0, 0)
    (tmp_path / "proc/self/auxv").write_bytes(vector + b"cut")
    assert read_host(tmp_path, "aarch64").features == ("asimd", "asimddp")


def test_without_sys_there_are_cautious_caches_and_no_clock(tmp_path: Path) -> None:
    cluster = read_host(tmp_path, "x86_64").clusters[0]
    assert (cluster.l1d_bytes, cluster.l2_bytes, cluster.l3_bytes, cluster.max_hz) == (32768, 262144, 0, None)
    assert len(cluster.cpus) >= 1


def test_hyperthreads_do_not_count_as_sharers_of_a_cache(tmp_path: Path) -> None:
    root = _machine(tmp_path, "processor : 0\nflags : sse2\n\nprocessor : 1\nflags : sse2\n", {0: 1, 1: 1})
    for number in (0, 1):
        folder = root / f"sys/devices/system/cpu/cpu{number}"
        (folder / "topology").mkdir()
        (folder / "topology/thread_siblings_list").write_text("0,1\n")
        (folder / "cache/index2/shared_cpu_list").write_text("0-1\n")
    assert read_host(root, "x86_64").clusters[0].l2_shared_by == 1


@pytest.mark.parametrize("text", ["", "garbage", "processor\t: x\n", "flags : a\n\n\n", "processor : 0\n"])
def test_strange_cpuinfo_does_not_matter(tmp_path: Path, text: str) -> None:
    assert read_host(_machine(tmp_path, text), "x86_64").features == ()


def test_bytes_that_are_no_text_do_not_matter(tmp_path: Path) -> None:
    (_machine(tmp_path, "") / "proc/cpuinfo").write_bytes(b"processor : 0\nflags : \xff sse2\n")
    assert "sse2" in read_processors(tmp_path)[0].features


def test_other_architectures_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="riscv64"):
        read_host(tmp_path, "riscv64")
