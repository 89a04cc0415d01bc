"""Risk: a throttled run passes for a good one, or a calm one is called doubtful so often that nobody reads it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cuvil_edge.profile.records import Profile, Verification, VerifiedOutput
from cuvil_edge.report.build import build_report
from cuvil_edge.report.model import TrustWarning
from cuvil_edge.report.warnings import verdict_of
from tests.report.samples import CALM_FACTS, GAP_NS, make_counted, make_profile, make_step

WALL_NS = 6_004_000


def found(profile: Profile) -> dict[str, TrustWarning]:
    return {warning.kind: warning for warning in build_report(profile).warnings}


def with_runs(values: list[int]) -> Profile:
    return make_profile(runs=len(values), unprofiled_run_ns=tuple(values))


def with_facts(before: dict[str, Any], after: dict[str, Any] | None = None) -> Profile:
    last = before if after is None else after
    return make_profile(facts_before={**CALM_FACTS, **before}, facts_after={**CALM_FACTS, **last})


def test_calm_measurement_is_trusted_without_any_warning() -> None:
    report = build_report(make_profile(runs=40))
    assert report.warnings == ()
    assert report.verdict == "trusted"


@pytest.mark.parametrize("seed", range(20))
def test_ordinary_noise_is_trusted(seed: int) -> None:
    values = np.random.default_rng(seed).normal(WALL_NS, 0.01 * WALL_NS, 50).astype(int)
    assert build_report(with_runs([int(v) for v in values])).verdict == "trusted"


@pytest.mark.parametrize("seed", range(20))
def test_a_throttling_board_is_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    slope = np.linspace(1, 1.25, 60)
    values = [int(v) for v in WALL_NS * slope * rng.normal(1, 0.01, 60)]
    warnings = found(with_runs(values))
    assert "slower" in warnings["drift"].what
    assert build_report(with_runs(values)).verdict == "untrusted"


def test_a_board_that_drops_its_boost_clock_is_found_though_it_recovers_slowly() -> None:
    values = [WALL_NS] * 10 + [int(WALL_NS * f) for f in np.linspace(1.3, 1.12, 30)]
    assert "slower" in found(with_runs(values))["drift"].what


def test_a_short_warm_up_is_told_from_heat() -> None:
    values = [int(WALL_NS * f) for f in np.linspace(1.12, 1.0, 40)]
    drift = found(with_runs(values))["drift"]
    assert "faster" in drift.what
    assert "warm" in drift.hint


@pytest.mark.parametrize(("runs", "severity"), [(1, "untrusted"), (2, "untrusted"), (3, "doubtful"), (9, "doubtful")])
def test_few_runs(runs: int, severity: str) -> None:
    assert found(make_profile(runs=runs))["few_runs"].severity == severity


def test_wide_spread() -> None:
    assert found(with_runs([WALL_NS, int(WALL_NS * 1.08)] * 10))["wide_spread"].severity == "doubtful"
    assert found(with_runs([WALL_NS, int(WALL_NS * 1.6)] * 10))["wide_spread"].severity == "untrusted"


def test_many_outliers() -> None:
    values = [WALL_NS + i for i in range(40)]
    values[3] = values[17] = values[30] = 2 * WALL_NS
    assert "3 of 40" in found(with_runs(values))["outliers"].found


def test_no_warm_up() -> None:
    assert "no_warm_up" in found(make_profile(warmup_runs=0))


def test_profiler_cost_by_its_own_account_and_by_comparison() -> None:
    assert "profiler_cost" in found(make_profile(profiler_cost_ns=400_000))
    assert "profiler_cost" in found(make_profile(unprofiled_run_ns=(int(WALL_NS / 1.1),) * 12))
    assert "profiler_cost" not in found(make_profile(unprofiled_run_ns=(int(WALL_NS / 1.02),) * 12))


def test_unexplained_time() -> None:
    profile = make_profile(run_wall_ns=(WALL_NS + 300_000,) * 12, unprofiled_run_ns=(WALL_NS + 300_000,) * 12)
    assert "unexplained_time" in found(profile)
    assert "unexplained_time" not in found(make_profile())


def test_times_that_contradict_each_other() -> None:
    starts = ((GAP_NS, 2 * GAP_NS, 3 * GAP_NS),) * 12
    assert found(make_profile(step_start_ns=starts))["overlapping_steps"].severity == "untrusted"


def test_wrong_answers_make_times_worthless() -> None:
    outputs = (VerifiedOutput(name="logits", mismatches=7), VerifiedOutput(name="boxes", mismatches=0))
    warning = found(make_profile(verification=Verification(passed=False, outputs=outputs)))["wrong_answer"]
    assert "logits" in warning.found
    assert "boxes" not in warning.found


def test_no_facts_at_all() -> None:
    assert build_report(make_profile(facts_before={}, facts_after={})).verdict == "trusted"


def test_instruction_counts_are_exact_but_said_to_be_emulated() -> None:
    report = build_report(make_counted())
    assert [w.kind for w in report.warnings] == ["emulated"]
    assert report.verdict == "trusted"


def test_times_under_an_emulator_are_untrusted() -> None:
    assert found(make_profile(transport="emulator"))["emulated"].severity == "untrusted"
    assert found(with_facts({"emulated": True}))["emulated"].severity == "untrusted"


def test_every_warning_has_all_its_parts() -> None:
    worst = make_profile(
        runs=2,
        transport="emulator",
        warmup_runs=0,
        profiler_cost_ns=9_000_000,
        steps=tuple(make_step(i) for i in range(3)),
        facts_before={"governor": {"cpu0": "ondemand"}, "load": {"one_minute": 9.0}},
    )
    warnings = build_report(worst).warnings
    assert len(warnings) >= 5
    for warning in warnings:
        assert all((warning.what, warning.found, warning.expected, warning.hint))
    order = [("untrusted", "doubtful", "note").index(w.severity) for w in warnings]
    assert order == sorted(order)


def test_verdict_is_the_worst() -> None:
    def one(severity: str) -> TrustWarning:
        return TrustWarning(kind="k", severity=severity, what="w", found="f", expected="e", hint="h")

    assert verdict_of([]) == "trusted"
    assert verdict_of([one("note")]) == "trusted"
    assert verdict_of([one("note"), one("untrusted"), one("doubtful")]) == "untrusted"


def test_warnings_of_the_caller_count() -> None:
    lost = TrustWarning(kind="link", severity="untrusted", what="w", found="f", expected="e", hint="h")
    assert build_report(make_profile(), [lost]).verdict == "untrusted"
