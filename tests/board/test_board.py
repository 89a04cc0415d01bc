"""Boards: their files are consistent, and a mistake in one is named by file and key."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from cuvil_edge.board.board import board_names, host_board, load_board, read_board
from cuvil_edge.errors import ConfigError, IncompatibleError, UsageError
from cuvil_edge.fields import Fields
from cuvil_edge.target.cpu import load_cpu

BOARDS = [name for name in board_names() if name != "host"]
GOOD: dict[str, Any] = {
    "title": "Test board",
    "soc": "RK3588",
    "isa": "arm64_neondot",
    "clusters": [
        {"cpu": "cortex_a76", "cpus": [4, 5], "max_hz": 2_400_000_000, "l1d_bytes": 65536, "l2_bytes": 524288},
        {"cpu": "cortex_a55", "cpus": [0, 1], "max_hz": 1_800_000_000, "l1d_bytes": 32768, "l2_bytes": 131072},
    ],
    "memory": {"size_bytes": 1 << 32, "bandwidth_bytes_per_second": 10**10},
    "system": {"name": "Debian", "glibc": "2.31", "kernel": "5.10"},
    "sensors": {"thermal_zones": ["soc-thermal"]},
}


def test_the_promised_boards_exist() -> None:
    assert set(board_names()) >= {
        "jetson-orin",
        "jetson-orin-nx",
        "jetson-orin-nano",
        "jetson-xavier-nx",
        "raspberry-pi-3",
        "raspberry-pi-4",
        "raspberry-pi-5",
        "raspberry-pi-zero-2-w",
        "rock-5b",
        "rk3568",
        "generic-arm64",
        "generic-x86-64",
        "intel-n100",
        "host",
    }


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_is_consistent(name: str) -> None:
    board = load_board(name)
    cpus = [number for cluster in board.clusters for number in cluster.cpus]
    assert sorted(cpus) == list(range(board.core_count))
    for cluster in board.clusters:
        assert cluster.l1d_bytes < cluster.l2_bytes
        assert cluster.l3_bytes == 0 or cluster.l3_bytes > cluster.l2_bytes
        assert len(cluster.cpus) % cluster.l2_shared_by == 0
    target = board.target()
    assert (target.name, target.board, target.arch) == (name, name, board.arch)


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_names_its_sources(name: str, project_root: Path) -> None:
    text = (project_root / "boards" / f"{name}.toml").read_text()
    assert text.startswith("# ")
    assert "Sources:" in text or name.startswith("generic-")


@pytest.mark.parametrize("name", BOARDS)
def test_code_of_a_board_runs_on_every_one_of_its_cores(name: str) -> None:
    board = load_board(name)
    for cluster in board.clusters:
        assert set(board.target().required_features) <= set(load_cpu(cluster.cpu).features)


@pytest.mark.parametrize("name", BOARDS)
def test_scalar_code_can_be_asked_for_everywhere(name: str) -> None:
    target = load_board(name).target("scalar")
    assert (target.name, target.required_features) == (f"{name}-scalar", ())


def test_known_targets() -> None:
    pi4 = load_board("raspberry-pi-4").target()
    assert (pi4.isa, pi4.cpu, pi4.cores, pi4.qemu_cpu) == ("arm64_neon", "cortex_a72-aes-sha2", 4, "cortex-a72")
    assert not pi4.has_feature("atomics")
    pi5 = load_board("raspberry-pi-5").target()
    assert (pi5.isa, pi5.cpu, pi5.l2_bytes, pi5.l3_bytes) == ("arm64_neondot", "cortex_a76", 524288, 2 << 20)
    assert pi5.has_feature("asimddp")
    assert pi5.has_feature("asimdhp")
    assert load_board("jetson-orin").target().cores == 12
    assert load_board("rock-5b").target().cores == 4


def test_limits_are_those_of_the_cores_that_are_used() -> None:
    limits = load_board("raspberry-pi-5").limits()
    assert limits.peak_flops_per_second == 4 * 2_400_000_000 * 16
    assert limits.memory_bytes_per_second == 17_068_000_000
    assert load_board("raspberry-pi-5").limits(1).peak_flops_per_second == 2_400_000_000 * 16
    unknown = load_board("generic-arm64").limits()
    assert (unknown.peak_flops_per_second, unknown.memory_bytes_per_second) == (None, None)


def test_an_instruction_set_that_the_board_lacks() -> None:
    with pytest.raises(
        IncompatibleError, match=r"Cortex-A72 lacks instructions of arm64_neondot(.|\n)*missing: asimddp"
    ):
        load_board("raspberry-pi-4").target("arm64_neondot")


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("raspberrypi5", "raspberry-pi-5"), ("Jetson-Orin", "jetson-orin"), ("rock5b", "rock-5b"), ("hosts", "host")],
)
def test_an_unknown_board_gets_the_nearest_name(name: str, nearest: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_board(name)
    assert caught.value.hint == f'did you mean "{nearest}"?'


@pytest.mark.parametrize("name", ["../targets/isa/scalar", "", "/etc/passwd", "zzzz"])
def test_a_name_cannot_lead_elsewhere(name: str) -> None:
    with pytest.raises(UsageError, match="there is no such board"):
        load_board(name)


def _read(value: dict[str, Any]) -> None:
    read_board("x", Fields(value, "boards/x.toml"))


def test_the_good_example_is_good() -> None:
    _read(GOOD)


MISTAKES: list[tuple[tuple[str | int, ...], Any, str]] = [
    (("title",), 5, "title"),
    (("isa",), "arm64_neno", "targets/isa"),
    (("isa",), "arm64_i8mm", "clusters[0].cpu"),
    (("isa",), "x86_64_avx2", "clusters[0].cpu"),
    (("clusters",), [], "clusters"),
    (("clusters", 0, "max_hz"), "2.4 GHz", "clusters[0].max_hz"),
    (("clusters", 0, "max_hz"), 2400, "clusters[0].max_hz"),
    (("clusters", 1, "cpu"), "cortex_a77", "clusters[1].cpu"),
    (("clusters", 1, "cpu"), "cortex_a72", "clusters[1].cpu"),
    (("clusters", 1, "cpu"), "gracemont", "clusters[1].cpu"),
    (("clusters", 1, "cpus"), [4, 6], "clusters[1].cpus"),
    (("clusters", 0, "cpus"), [1, 1], "clusters[0].cpus"),
    (("clusters", 0, "cpus"), [], "clusters[0].cpus"),
    (("clusters", 0, "cpus"), [-1], "clusters[0].cpus[0]"),
    (("clusters", 0, "l2_shared_by"), 0, "clusters[0].l2_shared_by"),
    (("clusters", 0, "max_hz"), 100_000_000, "clusters[1]"),
    (("clusters", 0, "l1_bytes"), 1, "clusters[0].l1_bytes"),
    (("memory", "size_bytes"), 0, "memory.size_bytes"),
    (("memory", "bandwith"), 0, "memory.bandwith"),
    (("system", "glibc"), "new", "system.glibc"),
    (("sensors", "thermal_zones"), "soc-thermal", "sensors.thermal_zones"),
    (("password",), "x", "password"),
]


@pytest.mark.parametrize(
    ("path", "new", "named"), MISTAKES, ids=lambda value: ".".join(map(str, value)) if isinstance(value, tuple) else ""
)
def test_a_mistake_in_a_file_is_named(path: tuple[str | int, ...], new: Any, named: str) -> None:
    value = copy.deepcopy(GOOD)
    place: Any = value
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = new
    with pytest.raises(ConfigError) as caught:
        _read(value)
    if named == "targets/isa":
        assert caught.value.what == "there is no such instruction set"
    else:
        assert caught.value.thing == f"boards/x.toml: {named}"


@pytest.mark.parametrize("key", ["title", "isa", "clusters", "system"])
def test_a_missing_key_is_named(key: str) -> None:
    value = {name: part for name, part in GOOD.items() if name != key}
    with pytest.raises(ConfigError) as caught:
        _read(value)
    assert caught.value.thing == f"boards/x.toml: {key}"


def test_this_machine_is_a_board_without_a_file() -> None:
    board = load_board("host")
    assert board.target().board is None
    assert board.target("scalar").isa == "scalar"
    assert board.memory_bytes is None or board.memory_bytes > 1 << 20


def test_this_machine_without_proc_and_sys(tmp_path: Path) -> None:
    board = host_board(tmp_path)
    assert board.memory_bytes is None
    assert board.limits().peak_flops_per_second is None
