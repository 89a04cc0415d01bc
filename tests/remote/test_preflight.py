from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from cuvil_edge.artifact.manifest import ArenaInfo, Manifest, MemoryInfo, TargetInfo
from cuvil_edge.errors import (
    CuvilError,
    DiskFullError,
    MissingFeatureError,
    OutOfMemoryError,
    WrongArchitectureError,
)
from cuvil_edge.remote.preflight import PROGRAM_MEMORY_BYTES, needed_memory_bytes, preflight, refuse
from tests.remote.artifacts import make_manifest

CAPTURED = Path(__file__).parent / "captured"
PI_5 = TargetInfo(
    "raspberry-pi-5",
    "raspberry-pi-5",
    "arm64_neondot",
    "aarch64",
    "aarch64-linux-gnu.2.28",
    "cortex_a76",
    ("asimd", "asimddp", "fphp", "asimdhp"),
)


def facts_of(device: str, **changes: Any) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((CAPTURED / f"{device}.json").read_text())
    return {**facts, **changes}


def manifest(**changes: Any) -> Manifest:
    return make_manifest(target=PI_5, **changes)


def test_the_right_board_in_good_condition_has_no_findings() -> None:
    assert preflight(facts_of("raspberry-pi-5"), manifest(), upload_bytes=10 << 20) == ()


def test_missing_instructions_are_named_before_anything_is_copied() -> None:
    findings = preflight(facts_of("raspberry-pi-4"), manifest())
    assert findings[0].severity == "error"
    assert findings[0].found == "no asimddp, fphp, asimdhp"
    with pytest.raises(MissingFeatureError, match="generic-arm64"):
        refuse(findings, "pi")


@pytest.mark.parametrize("architecture", ["x86_64", "armv7l", "riscv64"])
def test_other_architectures_are_refused(architecture: str) -> None:
    findings = preflight(facts_of("raspberry-pi-5", architecture=architecture), manifest())
    assert [finding.severity for finding in findings] == ["error"]
    with pytest.raises(WrongArchitectureError, match=architecture):
        refuse(findings, "pi")


def test_memory_counts_weights_arena_and_program() -> None:
    big = manifest(memory=MemoryInfo(8 << 30, ArenaInfo({"N": 1}, 1 << 30, 1)))
    assert needed_memory_bytes(big) == (9 << 30) + PROGRAM_MEMORY_BYTES
    findings = preflight(facts_of("raspberry-pi-5"), big)
    with pytest.raises(OutOfMemoryError, match=r"9\.02 GiB"):
        refuse(findings, "pi")
    full = facts_of("raspberry-pi-5", memory={"total_bytes": 8 << 30, "available_bytes": 1 << 20})
    assert [finding.severity for finding in preflight(full, manifest())] == ["warning"]


def test_disk_is_for_what_is_uploaded() -> None:
    facts = facts_of("raspberry-pi-5", free_disk={"total_bytes": 1 << 30, "available_bytes": 10 << 20})
    assert preflight(facts, manifest(), upload_bytes=1 << 20) == ()
    with pytest.raises(DiskFullError, match="--root"):
        refuse(preflight(facts, manifest(), upload_bytes=9 << 20), "pi")


def test_all_problems_come_in_one_pass() -> None:
    facts = facts_of("raspberry-pi-4", free_disk={"total_bytes": 1 << 30, "available_bytes": 0})
    with pytest.raises(MissingFeatureError) as caught:
        refuse(preflight(facts, manifest(), upload_bytes=1 << 20), "pi")
    assert any("no space left" in line for line in caught.value.details)


def test_what_is_not_known_is_not_held_against_the_device() -> None:
    assert preflight({}, manifest(), upload_bytes=1 << 40) == ()
    odd = {"memory": "much", "free_disk": 7, "throttling": [], "governor": 1, "load": None, "cpu_features": 3}
    assert preflight(odd, manifest(), upload_bytes=1 << 40) == ()


def test_condition_of_the_board_is_a_warning() -> None:
    whats = {finding.what: finding for finding in preflight(facts_of("raspberry-pi-4"), None)}
    assert whats["the board's power supply is too weak"].found == "undervoltage now"
    assert "ondemand" in whats["the clocks may change while measuring"].found
    assert "throttled" in whats["the board slows itself down"].found
    assert all(finding.severity == "warning" for finding in whats.values())
    hot = {finding.what for finding in preflight(facts_of("rock-5b"), None)}
    assert "the board slows itself down" in hot


def test_load_is_measured_by_the_cpus() -> None:
    load = {"one_minute": 2.5, "five_minutes": 0, "fifteen_minutes": 0}
    assert any("busy" in f.what for f in preflight(facts_of("raspberry-pi-5", load=load), None))
    assert not any("busy" in f.what for f in preflight(facts_of("jetson-orin", load=load), None))


def test_warnings_are_no_reason_to_refuse() -> None:
    refuse(preflight(facts_of("raspberry-pi-4"), None), "pi")


def test_findings_are_complete_json() -> None:
    for device in ("raspberry-pi-4", "rock-5b"):
        for finding in preflight(facts_of(device), manifest()):
            values = finding.to_json()
            assert set(values) == {"severity", "what", "found", "expected", "hint"}
            assert all(values.values())
            assert issubclass(finding.family, CuvilError)


def test_needs_of_a_scalar_artifact() -> None:
    target = dataclasses.replace(PI_5, required_features=())
    assert not [f for f in preflight(facts_of("raspberry-pi-4"), make_manifest(target=target)) if f.severity == "error"]
