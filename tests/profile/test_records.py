"""Risk: a damaged or foreign profile is half read, or a good one does not survive being written."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cuvil_edge.errors import CuvilError, UsageError
from cuvil_edge.profile.records import FILE_NAME, Profile, ProfileError, Verification, VerifiedOutput
from tests.report.samples import KINDS, all_kinds, make_counted, make_profile

Change = Callable[[dict[str, Any]], Any]


@pytest.mark.parametrize("kind", KINDS)
def test_written_and_read_again_is_equal(kind: str, tmp_path: Path) -> None:
    profile = all_kinds()[kind]
    profile.save(tmp_path / "run")
    assert Profile.load(tmp_path / "run") == profile
    assert Profile.load(tmp_path / "run" / FILE_NAME) == profile


def test_json_of_a_profile_is_stable() -> None:
    text = json.dumps(make_profile().to_json())
    assert json.dumps(Profile.from_json(json.loads(text)).to_json()) == text
    assert text.startswith('{"schema": 1')


def test_not_measured_is_absent_and_not_zero() -> None:
    value = make_profile(peak_rss_bytes=None, arena_lower_bound_bytes=None).to_json()
    assert "peak_rss_bytes" not in value
    assert "arena_lower_bound_bytes" not in value
    assert Profile.from_json(value).peak_rss_bytes is None


def test_null_means_absent() -> None:
    value = {**make_profile().to_json(), "verification": None, "board_limits": None, "command": None}
    profile = Profile.from_json(value)
    assert (profile.verification, profile.board_limits, profile.command) == (None, None, None)


def test_an_error_that_is_nan_is_stored_as_absent(tmp_path: Path) -> None:
    output = VerifiedOutput(name="y", mismatches=3, max_abs_error=float("nan"), max_rel_error=float("inf"))
    make_profile(verification=Verification(passed=False, outputs=(output,))).save(tmp_path)
    verification = Profile.load(tmp_path).verification
    assert verification is not None
    assert verification.outputs[0].max_abs_error is None
    assert verification.outputs[0].max_rel_error is None


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (lambda v: v.pop("model"), "model"),
        (lambda v: v.pop("steps"), "steps"),
        (lambda v: v.update(threads="4"), "threads"),
        (lambda v: v.update(threads=True), "threads"),
        (lambda v: v.update(threads=0), "threads"),
        (lambda v: v.update(created_unix_ns=-1), "created_unix_ns"),
        (lambda v: v.update(created_unix_ns=1 << 63), "created_unix_ns"),
        (lambda v: v.update(unit="s"), "unit"),
        (lambda v: v.update(transport="telnet"), "transport"),
        (lambda v: v.update(modle="x"), "modle"),
        (lambda v: v["symbols"].update(N=-1), "symbols.N"),
        (lambda v: v["steps"][1].pop("kernel"), "steps[1].kernel"),
        (lambda v: v["steps"][2].update(layers="Conv"), "steps[2].layers"),
        (lambda v: v["steps"][0]["inputs"][0].update(shape=[1, -1]), "steps[0].inputs[0].shape[1]"),
        (lambda v: v["steps"][0]["inputs"][0].update(extra=1), "steps[0].inputs[0].extra"),
        (lambda v: v["step_start_ns"].pop(), "step_start_ns"),
        (lambda v: v["step_duration_ns"][3].pop(), "step_duration_ns[3]"),
        (lambda v: v["step_duration_ns"][3].__setitem__(1, 1.5), "step_duration_ns[3][1]"),
        (lambda v: v["step_duration_ns"].__setitem__(0, 7), "step_duration_ns[0]"),
        (lambda v: v["run_wall_ns"].__setitem__(0, "fast"), "run_wall_ns[0]"),
        (lambda v: v.update(step_counters={"cycles": [1]}), "step_counters.cycles"),
        (lambda v: v["slots"][0].update(last_step=99), "slots[0]"),
        (lambda v: v["slots"][0].update(kind="heap"), "slots[0].kind"),
        (lambda v: v["verification"].update(passed="yes"), "verification.passed"),
        (lambda v: v["board_limits"].update(peak_flops_per_second=0), "board_limits.peak_flops_per_second"),
        (lambda v: v.update(facts_before=[]), "facts_before"),
    ],
)
def test_wrong_value_names_file_and_key(change: Change, key: str, tmp_path: Path) -> None:
    value = make_profile().to_json()
    change(value)
    file = tmp_path / FILE_NAME
    file.write_text(json.dumps(value))
    with pytest.raises(ProfileError) as caught:
        Profile.load(tmp_path)
    assert caught.value.thing == f"{file}: {key}"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe\x00", b"7", b"[" * 100_000, b'{"schema": 1'])
def test_damaged_file_is_an_error_of_ours(content: bytes, tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(ProfileError):
        Profile.load(tmp_path)


def test_file_cut_at_any_byte_is_an_error_of_ours(tmp_path: Path) -> None:
    content = make_profile(1, runs=2).save(tmp_path).read_bytes().rstrip()
    for end in range(len(content)):
        (tmp_path / FILE_NAME).write_bytes(content[:end])
        with pytest.raises(ProfileError):
            Profile.load(tmp_path)


def test_newer_format_asks_for_an_update() -> None:
    with pytest.raises(ProfileError, match="update cuvil-edge") as caught:
        Profile.from_json({**make_profile().to_json(), "schema": 2, "new_key": 1})
    assert "newer" in caught.value.what


def test_missing_folder_is_a_usage_error(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(UsageError) as caught:
            Profile.load(path)
        assert caught.value.exit_code == 2


def test_save_where_nothing_can_be_written_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CuvilError):
        make_profile().save(tmp_path / "file")


def test_save_leaves_no_temporary_file(tmp_path: Path) -> None:
    make_profile().save(tmp_path)
    make_profile().save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_instruction_counts_hold_no_times() -> None:
    with pytest.raises(ProfileError, match="no times"):
        make_counted(run_wall_ns=(1,), step_duration_ns=((1, 1, 1),), step_start_ns=((0, 1, 2),))
    with pytest.raises(ProfileError, match="a count for each step"):
        make_counted(step_counters={})


def test_contradiction_is_found_when_made() -> None:
    with pytest.raises(ProfileError, match="step_duration_ns"):
        replace(make_profile(), step_duration_ns=())
