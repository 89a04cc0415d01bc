"""Risk: the kernels of rare element types and of three axes are never run, because common ones do not reach them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Sample
from tests.kernels.harness import Build, lowered, run_cases, samples_of

ODD_FLOATS = pytest.mark.parametrize("dtype", [DType.F64, DType.F16], ids=lambda dtype: dtype.value)


def converted(sample: Sample, dtype: DType, scale: float) -> Sample:
    """The sample in another element type; scaled, so that sums stay within what f16 can resolve."""
    arrays = [None if array is None else (np.asarray(array) * scale).astype(dtype.numpy) for array in sample.inputs]
    return replace(sample, inputs=tuple(arrays))


def check(samples: list[tuple[str, Sample]], build: Build, least: int, tolerance: float = 2e-5) -> None:
    cases, refusals = lowered(samples, build)
    assert len(cases) >= least, refusals
    assert {case.templates for case in cases} <= {"plain_conv", "plain_matmul"}
    for case in cases:
        case.relative_tolerance = tolerance
    failures, _ = run_cases(build, cases)
    assert not failures, "\n".join(failures[:20])


@ODD_FLOATS
@pytest.mark.parametrize("op", ["conv", "conv_transpose"])
def test_convolutions_of_other_floats(op: str, dtype: DType, widest: Build) -> None:
    samples = [
        (name, converted(sample, dtype, 0.25))
        for name, sample in samples_of([op])
        if getattr(sample.op, "channels_last", False) and getattr(sample.op, "epilogue", None) is None
    ]
    check(samples, widest, 8)


@pytest.mark.parametrize("constant", [(), (1, 2)], ids=["run_time", "constant"])
def test_three_axes(constant: tuple[int, ...], widest: Build) -> None:
    samples = [
        (name, replace(sample, constant=constant))
        for name, sample in samples_of(["conv", "conv_transpose"])
        if "3d_channels_last" in name
    ]
    check(samples, widest, 2)


@pytest.mark.parametrize("dtype", [*DType], ids=lambda dtype: dtype.value)
def test_products_of_every_type(dtype: DType, widest: Build) -> None:
    if dtype in (DType.F32, DType.BOOL, DType.BF16):
        pytest.skip("not of this family, or not a type of numpy's")
    samples = [
        (name, converted(sample, dtype, 1.0 if dtype.is_float else 3.0))
        for name, sample in samples_of(["matmul"])
        if getattr(sample.op, "epilogue", None) is None and "i32" not in name
    ]
    check(samples, widest, 12)


def test_integer_products_wrap(widest: Build) -> None:
    name, sample = next((name, sample) for name, sample in samples_of(["matmul"]) if "[0:" in name)
    large = [np.full(np.shape(array), 2**30 + 7, np.int32) for array in sample.inputs]
    check([(name, replace(sample, inputs=tuple(large)))], widest, 1)
