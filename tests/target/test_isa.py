"""Instruction sets: their files agree with each other, with the headers and with what the runtime can detect."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from cuvil_edge.errors import ConfigError
from cuvil_edge.target.cpu import cpu_names, load_cpu
from cuvil_edge.target.isa import ARCHITECTURES, COMPILERS, isa_names, load_isa


def _runtime_features(root: Path, arch: str) -> set[str]:
    table = "cpu_features_x86.inc" if arch == "x86_64" else "cpu_features_arm.inc"
    return set(re.findall(r'"([a-z0-9_]+)"', (root / "csrc" / "base" / table).read_text()))


def test_the_names_are_those_of_the_design() -> None:
    assert set(isa_names()) >= {
        "scalar",
        "arm64_neon",
        "arm64_neondot",
        "arm64_neonfp16",
        "arm64_i8mm",
        "x86_64_avx2",
        "x86_64_avx512",
        "x86_64_avx512vnni",
    }


@pytest.mark.parametrize("name", isa_names())
def test_lanes_fill_the_vector(name: str) -> None:
    isa = load_isa(name)
    assert isa.f32_lanes * 32 == isa.vector_bits
    assert set(isa.cpu) <= set(ARCHITECTURES)
    assert isa.runs_on(isa.arch) or isa.arch == "any"


@pytest.mark.parametrize("name", isa_names())
def test_the_header_exists(name: str, project_root: Path) -> None:
    assert (project_root / "csrc" / "simd" / f"{load_isa(name).simd}.h").is_file()


@pytest.mark.parametrize("name", isa_names())
def test_the_runtime_can_detect_every_required_feature(name: str, project_root: Path) -> None:
    isa = load_isa(name)
    for arch in isa.cpu:
        assert set(isa.required_features) <= _runtime_features(project_root, arch)


@pytest.mark.parametrize("name", cpu_names())
def test_the_runtime_can_detect_every_feature_of_a_cpu(name: str, project_root: Path) -> None:
    cpu = load_cpu(name)
    assert set(cpu.features) <= _runtime_features(project_root, cpu.arch)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_higher_rank_needs_more(arch: str) -> None:
    usable = sorted((load_isa(name) for name in isa_names() if load_isa(name).runs_on(arch)), key=lambda isa: isa.rank)
    assert len({isa.rank for isa in usable}) == len(usable)
    for lower, higher in itertools.pairwise(usable):
        assert set(lower.required_features) < set(higher.required_features)


def test_arguments_of_each_compiler() -> None:
    flags = load_isa("arm64_neon").cpu["aarch64"]
    assert flags.arguments("zig") == ("-mcpu=generic",)
    assert flags.arguments("gcc") == flags.gcc
    assert flags.arguments("clang") == flags.clang
    assert COMPILERS == ("zig", "gcc", "clang")


def test_an_unknown_one_gets_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match='did you mean "arm64_neon"'):
        load_isa("arm64-neon")
