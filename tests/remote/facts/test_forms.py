"""Forms that the captured devices do not have."""

from __future__ import annotations

from typing import Any

import pytest

from cuvil_edge.remote.gather import fact_classes


def parse(name: str, **outputs: str) -> Any:
    fact = fact_classes()[name]()
    return fact.parse({key: outputs.get(key, "") for key in fact.commands})


def test_architectures_have_one_spelling() -> None:
    assert parse("architecture", machine="arm64\n") == "aarch64"
    assert parse("architecture", machine="x86_64\n") == "x86_64"


def test_features_are_what_all_cores_have() -> None:
    cpuinfo = "processor : 0\nFeatures : fp asimd asimddp\n\nprocessor : 1\nFeatures : fp asimd\n"
    assert parse("cpu_features", machine="aarch64", cpuinfo=cpuinfo) == ["asimd", "fp"]


def test_features_of_the_machine_below_an_emulator_are_not_the_devices() -> None:
    assert parse("cpu_features", machine="aarch64", cpuinfo="flags : avx2\n") is None
    auxv = "AT_HWCAP:             100002\nAT_HWCAP2:            0x6000\n"
    assert parse("cpu_features", machine="aarch64", cpuinfo="flags : avx2\n", auxv=auxv) == [
        "asimd",
        "asimddp",
        "bf16",
        "i8mm",
    ]


def test_unknown_cores_keep_their_numbers() -> None:
    cpuinfo = "processor : 0\nCPU implementer : 0x99\nCPU part : 0xabc\n"
    assert parse("cpu_clusters", machine="aarch64", cpuinfo=cpuinfo) == [
        {"cpus": [0], "cpu": "implementer 0x99 part 0xabc"}
    ]


@pytest.mark.parametrize(
    ("word", "now", "since_boot"),
    [
        ("throttled=0x0", [], []),
        ("throttled=0x1", ["undervoltage"], []),
        ("throttled=0x20002", ["frequency_capped"], ["frequency_capped"]),
        ("throttled=0x80008", ["soft_temperature_limit"], ["soft_temperature_limit"]),
        ("throttled=0xe0000", [], ["frequency_capped", "soft_temperature_limit", "throttled"]),
    ],
)
def test_every_bit_of_the_firmwares_word(word: str, now: list[str], since_boot: list[str]) -> None:
    assert parse("throttling", vcgencmd=word + "\n") == {"now": now, "since_boot": since_boot}


def test_throttling_without_the_tool() -> None:
    assert parse("throttling", firmware="50000\n") == {"now": [], "since_boot": ["throttled", "undervoltage"]}
    assert parse("throttling", alarms="1\n")["now"] == ["undervoltage"]
    assert parse("throttling", vcgencmd="VCHI initialization failed\n") is None
    assert parse("throttling", cooling="3 pwm-fan\n") is None


def test_firmware_alone_tells_clock_and_temperature() -> None:
    assert parse("clocks", vcgencmd="frequency(0)=1500398464\n") == {"arm": 1500398464}
    assert parse("temperature", vcgencmd="temp=61.2'C\n") == {"soc": 61200}


def test_zones_of_one_name_are_all_kept() -> None:
    assert parse("temperature", zones="cpu 40000\ncpu 41000\n") == {"cpu": 40000, "cpu.1": 41000}
    assert parse("temperature", zones="acpi tz 40000\n") == {"acpi tz": 40000}


def test_old_kernels_and_busybox_tell_less_memory() -> None:
    assert parse("memory", meminfo="MemTotal: 100 kB\nMemFree: 10 kB\nCached: 5 kB\nBuffers: 1 kB\n") == {
        "total_bytes": 102400,
        "available_bytes": 16384,
    }
    free = "             total       used       free\nMem:        500        100        400\n"
    assert parse("memory", free=free) == {"total_bytes": 512000, "available_bytes": 409600}
    assert parse("memory", free="Mem: \n") is None


def test_musl_and_old_ldd() -> None:
    assert parse("libc", ldd="musl libc (aarch64)\nVersion 1.2.4_git20230717\nDynamic Program Loader\n") == "musl 1.2.4"
    assert parse("libc", ldd="ldd (GNU libc) 2.17\n") == "glibc 2.17"
    assert parse("libc", ldd="sh: ldd: not found\n") is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (" 10:22:31 up 47 min,  2 users,  load average: 2.31, 1.20, 0.61", 47 * 60),
        (" 10:22:31 up  3:05,  load average: 0.00, 0.00, 0.00", 3 * 3600 + 5 * 60),
        (" 10:22:31 up 1 day, 12 min,  1 user", 86400 + 720),
        (" 10:22:31 up 12 days,  1:01,  1 user", 12 * 86400 + 3660),
    ],
)
def test_uptime_without_proc(text: str, seconds: int) -> None:
    assert parse("uptime", uptime=text) == {"up_seconds": seconds}


def test_disks_with_blanks_in_their_names_and_pseudo_disks() -> None:
    head = "Filesystem 1024-blocks Used Available Capacity Mounted on\n"
    assert parse("free_disk", df=head + "my disk 7 100 40 60 40% /mnt/a b\n") == {
        "available_bytes": 61440,
        "total_bytes": 102400,
    }
    assert parse("free_disk", df=head + "proc 0 0 0 - /proc\n") is None


def test_emulator_is_recognised_by_its_answer() -> None:
    assert parse("emulated", shell="qemu-aarch64 version 9.2.0\n") is True
    assert parse("emulated", shell="native\n") is False


def test_release_names_in_quotes_and_without() -> None:
    assert parse("os_release", os_release="PRETTY_NAME='Alpine Linux v3.20'\n") == "Alpine Linux v3.20"
    assert parse("os_release", os_release="NAME=Buildroot\n") == "Buildroot"
    assert parse("os_release", os_release='PRETTY_NAME="broken\n') == '"broken'
