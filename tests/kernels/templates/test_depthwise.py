"""Risks: a channel block or a row of outputs is nobody's work; a kernel wider than the registers is accepted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cuvil_edge.board.board import load_board
from cuvil_edge.ir.dim import evaluate
from cuvil_edge.ir.op import Sample
from cuvil_edge.kernels.kernel import KernelCall
from cuvil_edge.kernels.templates.depthwise import DepthwiseRows
from cuvil_edge.ops.conv import Conv
from cuvil_edge.target.target import Target
from tests.kernels.harness import Build, build_node, lowered, run_cases, target_for

PI5 = load_board("raspberry-pi-5").target()
TARGETS = [PI5, load_board("intel-n100").target(), target_for("scalar"), target_for("x86_64_avx512")]
BLOCK_ROWS, BLOCK_CHANNELS = 12, 13
"""Places in the list of extents."""
RANDOM = np.random.default_rng(17)


def array(*shape: int) -> np.ndarray:
    if np.prod(shape) > 1 << 16:  # lowered only, never run
        return np.zeros(shape, np.float32)
    return RANDOM.standard_normal(shape).astype(np.float32)


def sample(x: tuple[int, ...], kernel: tuple[int, ...], group: int | None = None, filters: int | None = None) -> Sample:
    group, filters = group or x[-1], filters or x[-1]
    pads = tuple(extent // 2 for extent in kernel) * 2
    op = Conv((1,) * len(kernel), pads, (1,) * len(kernel), group, channels_last=True)
    return Sample(op, (array(*x), array(filters, x[-1] // group, *kernel), None), (1,))


def lower(case: Sample, target: Target, symbolic: bool = False) -> tuple[KernelCall, dict[str, int]]:
    node, _, symbols = build_node(case, symbolic)
    [kernel_call] = DepthwiseRows().lower(node, target)
    return kernel_call, symbols


def refusal(case: Sample, symbolic: bool = False) -> str | None:
    return DepthwiseRows().refuse(build_node(case, symbolic)[0], PI5)


def test_what_is_not_one_filter_a_channel_is_refused_with_the_reason() -> None:
    assert refusal(sample((1, 9, 9, 6), (3, 3))) is None
    assert refusal(sample((1, 9, 9, 6), (3, 3), group=3)) == (
        "3 groups of 2 channels for 6 filters are not one filter a channel"
    )
    assert refusal(sample((1, 9, 9, 6), (3, 3), filters=12)) == (
        "6 groups of 1 channels for 12 filters are not one filter a channel"
    )
    assert refusal(sample((1, 9, 19, 6), (3, 13))) == "the kernel is 13 wide, at most 11 fit in registers"
    assert refusal(sample((1, 19, 9, 6), (13, 3))) is None, "the height is a loop"


def test_weights_that_are_computed_while_running_are_refused_before_their_shape_is_looked_at() -> None:
    case = sample((1, 9, 9, 6), (3, 3))
    run_time = Sample(case.op, case.inputs[:2])
    assert refusal(run_time) == "the weights are computed while running"
    assert "symbol" in (refusal(run_time, symbolic=True) or "")


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.isa)
def test_the_items_cover_all_rows_and_channels(target: Target) -> None:
    for height, width, channels in itertools.product((1, 7, 112), (1, 7, 112), (1, 16, 33, 512, 2000)):
        kernel_call, _ = lower(sample((2, height, width, channels), (3, 3)), target)
        block_rows, block_channels = kernel_call.extents[BLOCK_ROWS], kernel_call.extents[BLOCK_CHANNELS]
        assert isinstance(block_rows, int)
        assert isinstance(block_channels, int)
        assert 1 <= block_rows <= 2 * height
        assert 1 <= block_channels <= channels
        assert kernel_call.work_items == -(-2 * height // block_rows) * -(-channels // block_channels)
        lanes = target.instruction_set.f32_lanes
        assert block_channels == channels or block_channels % lanes == 0
        assert kernel_call.scratch_bytes >= block_channels * 4


def test_large_images_are_shared_and_small_ones_are_not() -> None:
    assert lower(sample((1, 112, 112, 64), (3, 3)), PI5)[0].work_items >= 16
    assert lower(sample((1, 5, 5, 16), (3, 3)), PI5)[0].work_items == 1


def test_input_rows_of_a_block_stay_in_the_first_cache() -> None:
    divided = 0
    for width, channels in ((112, 96), (56, 144), (14, 576), (7, 960), (28, 2000)):
        block = lower(sample((1, 32, width, channels), (3, 3)), PI5)[0].extents[BLOCK_CHANNELS]
        assert isinstance(block, int)
        assert block == channels or 3 * width * block * 4 <= PI5.l1d_bytes // 2
        divided += block < channels
    assert divided >= 2


def test_symbolic_extents_give_the_same_cover() -> None:
    kernel_call, symbols = lower(sample((2, 31, 29, 24), (3, 3)), PI5, symbolic=True)
    for height, width in ((1, 1), (31, 29), (480, 640)):
        at = symbols | {"n31": height, "n29": width}
        rows, items = evaluate(kernel_call.extents[BLOCK_ROWS], at), evaluate(kernel_call.work_items, at)
        assert items == -(-2 * height // rows)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.isa)
def test_a_tile_leaves_registers_for_the_kernels_row(target: Target) -> None:
    for kernel, width in itertools.product((1, 3, 5, 7, 11), (1, 7, 14, 56, 113)):
        pixels = DepthwiseRows._pixels(width, kernel, target)
        assert 1 <= pixels <= 8
        isa = target.instruction_set
        assert isa.f32_lanes == 1 or pixels + kernel + 2 <= isa.vector_registers


def test_every_kernel_width_and_row_length(widest: Build) -> None:
    samples = [
        (f"{height}x{kernel} {width}", sample((2, 4, width, 21), (height, kernel)))
        for height, kernel in ((1, 1), (3, 3), (5, 5), (2, 4), (3, 11), (7, 7))
        for width in (1, 2, 5, 8, 9, 17, 30)
    ]
    for symbolic in (False, True):
        cases, refused = lowered(samples, widest, symbolic=symbolic)
        assert not refused
        failures, _ = run_cases(widest, cases)
        assert not failures, "\n".join(failures)
