"""Convolutions whose weights or bias are computed while running: packed by the kernel instead of the compiler."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.kernels.harness import Build, lowered, run_cases, samples_of


@pytest.mark.parametrize("constant", [(), (1,), (2,)], ids=["nothing", "weights", "bias"])
def test_answers_do_not_depend_on_what_is_constant(widest: Build, constant: tuple[int, ...]) -> None:
    samples = [
        (f"{name}_{constant}", replace(sample, constant=constant))
        for name, sample in samples_of(["conv", "conv_transpose"])
        if getattr(sample.op, "channels_last", False)
    ]
    cases, refusals = lowered(samples, widest)
    assert len(cases) > 15
    assert all("3 spatial axes" in reason for reason in refusals), refusals
    failures, _ = run_cases(widest, cases)
    assert not failures, "\n".join(failures[:20])


@pytest.mark.cross
def test_run_time_weights_on_arm64(arm64: Build) -> None:
    samples = [
        (f"{name}_arm64", replace(sample, constant=()))
        for name, sample in samples_of(["conv", "conv_transpose"])
        if getattr(sample.op, "channels_last", False)
    ]
    cases, _ = lowered(samples, arm64)
    failures, _ = run_cases(arm64, cases)
    assert not failures, "\n".join(failures[:20])
