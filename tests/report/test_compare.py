"""Risk: a comparison that claims a gain which noise, heat or another board made."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge.profile.records import Profile
from cuvil_edge.report.compare import compare
from tests.report.samples import make_counted, make_profile


def noisy(factor: float, seed: int, **changes: object) -> Profile:
    values = np.random.default_rng(seed).normal(6_004_000 * factor, 30_000, 40)
    return make_profile(runs=40, unprofiled_run_ns=tuple(int(v) for v in values), **changes)


def test_a_real_gain_is_shown_with_its_interval() -> None:
    result = compare(noisy(1.04, 1), noisy(1.0, 2))
    assert result.ratio == pytest.approx(1 / 1.04, abs=0.005)
    assert result.interval is not None
    assert result.interval.high < 1
    assert result.verdict == "trusted"
    assert "less time" in result.conclusion


def test_noise_is_no_difference() -> None:
    assert compare(noisy(1.0, 1), noisy(1.0, 2)).conclusion.startswith("No difference")


def test_untrusted_measurements_give_no_conclusion() -> None:
    result = compare(make_profile(runs=2), noisy(0.5, 1))
    assert result.verdict == "untrusted"
    assert result.conclusion.startswith("No conclusion")
    assert any("first measurement is untrusted" in reason.what for reason in result.reasons)


def test_doubt_is_carried_into_the_conclusion() -> None:
    result = compare(noisy(1.04, 1, warmup_runs=0), noisy(1.0, 2))
    assert result.verdict == "doubtful"
    assert "doubtful" in result.conclusion


@pytest.mark.parametrize(
    ("key", "value", "verdict"),
    [
        ("threads", 1, "untrusted"),
        ("board", "rock-5b", "untrusted"),
        ("model", "other", "untrusted"),
        ("symbols", {"N": 8}, "untrusted"),
        ("device", "pi6", "doubtful"),
    ],
)
def test_different_circumstances_are_named(key: str, value: object, verdict: str) -> None:
    result = compare(noisy(1.04, 1), noisy(1.0, 2, **{key: value}))
    assert [reason.kind for reason in result.reasons] == [f"different_{key}"]
    assert result.verdict == verdict


def test_other_artifact_of_the_same_model_is_what_comparing_is_for() -> None:
    assert compare(noisy(1.04, 1), noisy(1.0, 2, artifact_sha256="cd" * 32)).verdict == "trusted"


def test_times_and_instructions_do_not_compare() -> None:
    result = compare(make_profile(), make_counted())
    assert result.ratio is None
    assert result.layers == ()
    assert "cannot be compared" in result.conclusion


def test_instruction_counts_compare_exactly() -> None:
    fewer = make_counted(step_counters={"instructions": (500_000, 2_000_000, 3_000_000)})
    result = compare(make_counted(), fewer)
    assert result.ratio == pytest.approx(5.5 / 6)
    assert "instruction count" in result.conclusion
    assert (result.layers[0].name, result.layers[0].ratio) == ("Conv_0", 0.5)


def test_layers_are_matched_by_name() -> None:
    result = compare(make_profile(3), make_profile(2))
    assert {layer.name for layer in result.layers} == {"Conv_0", "Conv_1"}
    assert all(layer.ratio == 1 for layer in result.layers)
