"""Risks: an output pixel belongs to no phase or to two, or a phase reads the wrong taps of the kernel."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cuvil_edge.ir.dim import Dim, Symbol, ceildiv, evaluate
from cuvil_edge.ir.op import Sample
from cuvil_edge.kernels.templates.conv_transpose import PhaseConvolutions, _axis, _count
from cuvil_edge.ops.conv_transpose import ConvTranspose
from tests.kernels.harness import Build, build_node, lowered, run_cases, target_for

RANDOM = np.random.default_rng(13)


def array(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def test_pads_that_depend_on_a_symbol_are_refused() -> None:
    n = Dim.of(Symbol("n", min=2, max=4))
    op = ConvTranspose((2, 2), (n - 2, 0, 0, 0), (1, 1), (0, 0), channels_last=True)
    node = build_node(Sample(op, (array(1, 4, 4, 3), array(3, 5, 3, 3)), (1,)), False)[0]
    assert PhaseConvolutions().refuse(node, target_for("scalar")) == "its pads depend on a symbol"
    fixed = ConvTranspose((2, 2), (1, 0, 0, 0), (1, 1), (0, 0), channels_last=True)
    node = build_node(Sample(fixed, (array(1, 4, 4, 3), array(3, 5, 3, 3)), (1,)), False)[0]
    assert PhaseConvolutions().refuse(node, target_for("scalar")) is None


@pytest.mark.parametrize("stride", [1, 2, 3, 4])
@pytest.mark.parametrize("dilation", [1, 2, 3])
def test_each_output_gets_exactly_its_taps(stride: int, dilation: int) -> None:
    """Against the definition: ``out[i * stride + k * dilation - pad] += in[i] * w[k]``."""
    extent = 9
    for kernel, pad in itertools.product((1, 2, 3, 5), (0, 1, 4)):
        length = stride * (extent - 1) + dilation * (kernel - 1) + 1 - pad
        found = set()
        for phase in range(stride):
            axis = _axis(phase, kernel, stride, dilation, pad)
            count = _count(length, phase, stride)
            assert isinstance(count, int)
            for j, position in itertools.product(range(count), range(len(axis.taps))):
                source = j - axis.pad + position * axis.step
                if 0 <= source < extent:
                    found.add((stride * j + phase, source, axis.taps[position]))
        wanted = {(i * stride + k * dilation - pad, i, k) for i in range(extent) for k in range(kernel)}
        assert found == {entry for entry in wanted if 0 <= entry[0] < length}, (kernel, pad)


def test_the_phases_share_all_pixels() -> None:
    n = Dim.of(Symbol("n", min=0))
    for stride, extent in itertools.product((1, 2, 3), (0, 1, 2, 5, 6, 7)):
        counts = [evaluate(_count(n, phase, stride), {"n": extent}) for phase in range(stride)]
        assert sum(counts) == extent
        assert counts[0] == evaluate(ceildiv(n, stride), {"n": extent})


def test_one_call_a_phase() -> None:
    op = ConvTranspose((2, 3), (0,) * 4, (1, 1), (0, 0), channels_last=True)
    node = build_node(Sample(op, (array(1, 4, 4, 3), array(3, 5, 3, 3)), (1,)), False)[0]
    calls = PhaseConvolutions().lower(node, target_for("scalar"))
    assert len(calls) == 6
    assert len({call.kernel for call in calls}) == 1


def test_strides_longer_than_the_kernel_still_write_every_pixel(widest: Build) -> None:
    """Phases without taps: their pixels are the bias, through the epilogue."""
    samples = []
    for strides, kernel, padding in (((3, 3), (1, 1), (0, 0)), ((4, 2), (2, 1), (3, 1)), ((2, 5), (3, 2), (1, 4))):
        for group in (1, 2):
            op = ConvTranspose(strides, (0,) * 4, (1, 1), padding, group, channels_last=True)
            arrays = (array(2, 3, 4, 6), array(6, 5, *kernel), array(5 * group))
            samples.append((f"{op}", Sample(op, arrays, (1, 2))))
            samples.append((f"{op} without bias", Sample(op, (*arrays[:2], None), (1,))))
    for symbolic in (False, True):
        cases, refused = lowered(samples, widest, symbolic=symbolic)
        assert not refused
        failures, _ = run_cases(widest, cases)
        assert not failures, "\n".join(failures)
