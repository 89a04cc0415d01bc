"""Targets: code never uses an instruction that the machine lacks, and a lesser instruction set gets lesser code."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuvil_edge.errors import ConfigError, IncompatibleError
from cuvil_edge.target.cpu import load_cpu
from cuvil_edge.target.isa import isa_names, load_isa
from cuvil_edge.target.target import choose_code, host_target

V3 = " ".join(load_isa("x86_64_avx2").required_features)
V4 = " ".join(load_isa("x86_64_avx512").required_features)


def _machine(root: Path, arch: str, features: str, model: str = "") -> Path:
    (root / "proc").mkdir()
    key = "flags" if arch == "x86_64" else "Features"
    (root / "proc/cpuinfo").write_text(f"processor\t: 0\n{key}\t: {features}\n{model}\n")
    return root


@pytest.mark.parametrize(
    ("arch", "features", "isa"),
    [
        ("x86_64", "sse2", "scalar"),
        ("x86_64", V3, "x86_64_avx2"),
        ("x86_64", V3.replace("fma", ""), "scalar"),
        ("x86_64", V4, "x86_64_avx512"),
        ("x86_64", V4.replace("avx512vl", ""), "x86_64_avx2"),
        ("x86_64", V4 + " avx512_vnni", "x86_64_avx512vnni"),
        ("aarch64", "fp", "scalar"),
        ("aarch64", "fp asimd", "arm64_neon"),
        ("aarch64", "asimd fphp asimdhp", "arm64_neon"),
        ("aarch64", "asimd asimddp", "arm64_neondot"),
        ("aarch64", "asimd asimddp fphp asimdhp", "arm64_neonfp16"),
        ("aarch64", "asimd asimddp fphp asimdhp i8mm", "arm64_i8mm"),
    ],
)
def test_the_best_instruction_set_that_the_machine_has(tmp_path: Path, arch: str, features: str, isa: str) -> None:
    target = host_target(root=_machine(tmp_path, arch, features), machine=arch)
    assert target.isa == isa
    assert set(target.required_features) <= set(features.split())
    assert target.cpu == load_isa(isa).cpu[arch].zig
    assert (target.name, target.board) == ("host", None)


def test_a_known_model_is_used_only_if_no_feature_is_hidden(tmp_path: Path) -> None:
    model = "CPU implementer\t: 0x41\nCPU part\t: 0xd0b\n"
    whole = load_cpu("cortex_a76").features
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    target = host_target(root=_machine(tmp_path / "a", "aarch64", " ".join(whole), model), machine="aarch64")
    assert (target.cpu, target.required_features) == ("cortex_a76", whole)
    hidden = " ".join(name for name in whole if name != "aes")
    target = host_target(root=_machine(tmp_path / "b", "aarch64", hidden, model), machine="aarch64")
    assert target.cpu == "generic+dotprod+fullfp16"
    assert "aes" not in target.required_features


def test_a_lesser_instruction_set_is_named_in_the_target(tmp_path: Path) -> None:
    target = host_target("x86_64_avx2", root=_machine(tmp_path, "x86_64", V4), machine="x86_64")
    assert (target.name, target.isa, target.cpu) == ("host-x86_64_avx2", "x86_64_avx2", "x86_64_v3")
    assert not target.has_feature("avx512f")
    assert target.has_feature("avx2")


def test_what_the_machine_lacks_is_named(tmp_path: Path) -> None:
    root = _machine(tmp_path, "x86_64", V3)
    with pytest.raises(IncompatibleError, match="missing: avx512f avx512bw"):
        host_target("x86_64_avx512", root=root, machine="x86_64")
    with pytest.raises(IncompatibleError, match="another architecture") as caught:
        host_target("arm64_neon", root=root, machine="x86_64")
    assert "x86_64_avx2" in str(caught.value.expected)
    with pytest.raises(ConfigError, match='did you mean "x86_64_avx2"'):
        host_target("avx2", root=root, machine="x86_64")


def test_this_machine_has_a_target() -> None:
    target = host_target()
    assert target.isa in isa_names()
    assert target.cores >= 1
    assert target.describe().startswith("host: ")
    assert target.l2_bytes > 0
    assert host_target("scalar").required_features == ()


def test_triples() -> None:
    target = host_target(machine="x86_64")
    assert (target.shared_triple, target.static_triple) == ("x86_64-linux-gnu.2.28", "x86_64-linux-musl")


def test_code_for_a_model() -> None:
    a76, dot, neon = load_cpu("cortex_a76"), load_isa("arm64_neondot"), load_isa("arm64_neon")
    assert choose_code(dot, dot, a76) == (a76.flags, a76.features)
    assert choose_code(load_isa("arm64_neonfp16"), dot, a76) == (a76.flags, a76.features)
    assert choose_code(neon, dot, a76) == (neon.cpu["aarch64"], ("asimd",))
    with pytest.raises(IncompatibleError, match="Arm Cortex-A76 lacks instructions of arm64_i8mm"):
        choose_code(load_isa("arm64_i8mm"), dot, a76)
