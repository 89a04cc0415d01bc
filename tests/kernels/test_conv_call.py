"""Risks: weights in the wrong order, an access that the window does not allow, less scratch than the kernel writes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cuvil_edge.board.board import load_board
from cuvil_edge.ir.dim import Dim, evaluate
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Op, Sample
from cuvil_edge.ir.scalar import Arg, call, cast
from cuvil_edge.kernels.conv_call import COPY, RUNS, TAPS, _Problem, kernel_first, refuse_conv, two_axes
from cuvil_edge.kernels.kernel import KernelCall
from cuvil_edge.kernels.templates.conv import ImplicitProduct
from cuvil_edge.ops.conv import Conv
from cuvil_edge.target.target import Target
from tests.kernels.harness import Build, build_node, lowered, run_cases, target_of

PI5 = load_board("raspberry-pi-5").target()
SAME = ((1, 1), (1, 1, 1, 1), (1, 1))
POINT = ((1, 1), (0, 0, 0, 0), (1, 1))
RANDOM = np.random.default_rng(5)


def array(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def conv(strides: tuple[int, ...], pads: tuple[int, ...], dilations: tuple[int, ...], group: int = 1) -> Conv:
    return Conv(strides, pads, dilations, group, channels_last=True)


def call_of(op: Op, x: tuple[int, ...], w: tuple[int, ...], target: Target = PI5, symbolic: bool = False) -> KernelCall:
    node, _, _ = build_node(Sample(op, (array(*x), array(*w)), (1,)), symbolic)
    [kernel_call] = ImplicitProduct().lower(node, target)
    return kernel_call


def field(kernel_call: KernelCall, name: str) -> object:
    return kernel_call.extents[list(_Problem.__dataclass_fields__).index(name)]


def refusal(op: Op, *arrays: np.ndarray, constant: tuple[int, ...] = (1, 2)) -> str | None:
    return refuse_conv(build_node(Sample(op, arrays, constant), False)[0])


def test_what_cannot_be_computed_is_refused_with_the_reason() -> None:
    x, w, bias = array(1, 5, 5, 3), array(4, 3, 3, 3), array(4)
    assert refusal(conv(*SAME), x, w, bias) is None
    symbolic = build_node(Sample(conv(*SAME), (x, w)), symbolic=True)[0]
    assert refuse_conv(symbolic) == "the shape of the weights depends on a symbol"
    assert refusal(Conv(*SAME), x.transpose(0, 3, 1, 2), w) == "channels are not last"
    doubles = (x.astype(np.float64), w.astype(np.float64))
    assert refusal(conv(*SAME), *doubles) == "the element type is f64, not f32"
    volume = Conv((1,) * 3, (0,) * 6, (1,) * 3, channels_last=True)
    assert refusal(volume, array(1, 2, 2, 2, 3), array(4, 3, 1, 1, 1)) == "there are 3 spatial axes, not one or two"
    in_integers = Conv(*SAME, channels_last=True, epilogue=cast(cast(Arg(0, DType.F32), DType.I32), DType.F32))
    assert refusal(in_integers, x, w) == "the epilogue computes in other types than f32"


def test_one_axis_is_the_width_of_an_image_of_height_one() -> None:
    assert two_axes((7,), 1) == (1, 7)
    assert two_axes((5, 7), 1) == (5, 7)


@pytest.mark.parametrize("group", [1, 2, 3])
def test_weights_are_ordered_as_a_matrix_product_reads_them(group: int) -> None:
    weights = array(6, 4, 3, 2)
    ordered = kernel_first(weights, group)
    assert ordered.shape == (group, 3, 2, 4, 6 // group)
    for filter_ in range(6):
        part = ordered[filter_ // (6 // group), :, :, :, filter_ % (6 // group)]
        np.testing.assert_array_equal(part, weights[filter_].transpose(1, 2, 0))
    assert kernel_first(array(6, 4, 5), 1).shape == (1, 1, 5, 4, 6)


def test_windows_are_read_in_runs_only_where_their_pixels_are_neighbours() -> None:
    x, few = (1, 9, 9, 3), (16, 3, 3, 3)
    assert field(call_of(conv(*SAME), x, few), "access") == RUNS
    assert field(call_of(conv((1, 1), (1, 2, 1, 2), (1, 2)), x, few), "access") == TAPS, "dilation leaves gaps"
    assert field(call_of(conv((1, 1), (2, 1, 2, 1), (2, 1)), x, few), "access") == RUNS
    assert field(call_of(conv(*SAME, 3), x, (15, 1, 3, 3)), "access") == TAPS, "groups lie between"
    assert field(call_of(conv((1, 1), (1, 0, 1, 0), (1, 1)), x, (16, 3, 3, 1)), "access") == TAPS
    assert field(call_of(conv(*SAME), (1, 9, 9, 64), (16, 64, 3, 3)), "access") == RUNS


def test_rows_that_collide_are_copied_if_they_are_read_often() -> None:
    wide = (1, 8, 8, 4096)
    assert field(call_of(conv(*POINT), wide, (256, 4096, 1, 1)), "access") == COPY
    assert field(call_of(conv(*POINT), wide, (8, 4096, 1, 1)), "access") == TAPS, "one panel reads them once"
    assert field(call_of(conv(*POINT), (1, 8, 8, 320), (256, 320, 1, 1)), "access") == TAPS


def test_the_extents_describe_the_window() -> None:
    kernel_call = call_of(conv((2, 3), (0, 1, 2, 3), (1, 2), 2), (2, 11, 13, 8), (6, 4, 3, 2))
    wanted = {
        "images": 2, "in_height": 11, "in_width": 13, "in_channels": 4, "in_stride": 8, "out_channels": 3,
        "out_stride": 6, "groups": 2, "kernel_h": 3, "kernel_w": 2, "stride_h": 2, "stride_w": 3, "dilation_h": 1,
        "dilation_w": 2, "pad_top": 0, "pad_left": 1, "spread_h": 0,
    }  # fmt: skip
    assert {name: field(kernel_call, name) for name in wanted} == wanted
    assert (field(kernel_call, "out_height"), field(kernel_call, "out_width")) == (6, 5)


def test_a_batch_of_none_is_no_work_and_symbols_stay_symbols() -> None:
    kernel_call = call_of(conv(*SAME), (2, 24, 20, 8), (32, 8, 3, 3), symbolic=True)
    assert isinstance(kernel_call.work_items, Dim)
    for images in (0, 1, 2, 100):
        at = {"n2": images, "n24": 24, "n20": 20, "n8": 8}
        rows = images * 24 * 20
        block = evaluate(kernel_call.extents[list(_Problem.__dataclass_fields__).index("block_rows")], at)
        assert evaluate(kernel_call.work_items, at) >= -(-rows // block)
        assert (evaluate(kernel_call.work_items, at) == 0) == (rows == 0)


def test_layers_with_other_extents_share_a_kernel() -> None:
    first = call_of(conv(*SAME), (1, 9, 9, 32), (64, 32, 3, 3))
    second = call_of(conv((2, 2), (0,) * 4, (1, 1)), (1, 20, 20, 48), (96, 48, 5, 5))
    assert first.kernel == second.kernel


SCRATCH = [
    ("runs", conv((2, 1), (1, 1, 1, 1), (1, 1)), (2, 33, 35, 3), (24, 3, 3, 3)),
    ("runs_wide", conv((4, 4), (3, 3, 3, 3), (1, 1)), (1, 40, 41, 3), (32, 3, 7, 7)),
    ("runs_all_at_sides", conv((1, 1), (2, 4, 2, 4), (1, 1)), (3, 9, 4, 40), (24, 40, 5, 9)),
    ("runs_over_the_end", conv((3, 3), (0, 0, 9, 9), (1, 1)), (2, 17, 19, 8), (40, 8, 2, 3)),
    ("copies", conv(*POINT), (1, 9, 7, 2048), (136, 2048, 1, 1)),
    ("copies_stride", conv((2, 2), (0,) * 4, (1, 1)), (1, 9, 7, 1024), (136, 1024, 1, 1)),
    ("taps", conv((1, 2), (2, 2, 2, 2), (1, 2)), (1, 31, 30, 17), (9, 17, 3, 5)),
    ("groups", conv(*SAME, 4), (2, 13, 11, 64), (36, 16, 3, 3)),
    ("one_pixel", conv(*SAME), (1, 1, 1, 16), (1, 16, 3, 3)),
    ("1d", Conv((2,), (3, 1), (1,), channels_last=True), (2, 57, 5), (7, 5, 4)),
]


@pytest.mark.parametrize("symbolic", [False, True])
def test_scratch_is_enough_and_no_more_is_touched(native: Build, symbolic: bool) -> None:
    """The harness puts canaries behind the scratch, and pages that may not be touched around the operands."""
    samples = [(name, Sample(op, (array(*x), array(*w), None), (1,))) for name, op, x, w in SCRATCH]
    cases, refused = lowered(samples, native, symbolic=symbolic)
    assert not refused
    for case in cases:
        case.relative_tolerance = 1e-3
        [kernel_call] = case.calls = ImplicitProduct().lower(case.node, target_of(native))
        assert evaluate(kernel_call.scratch_bytes, case.symbols) > 0
    failures, _ = run_cases(native, cases)
    assert not failures, "\n".join(failures)


def test_a_formula_that_counts_too_little_is_noticed(widest: Build) -> None:
    name, op, x, w = next(case for case in SCRATCH if case[0] == "taps")
    [case], _ = lowered([(name, Sample(op, (array(*x), array(*w), None), (1,)))], widest)
    [kernel_call] = case.calls
    case.calls = [replace(kernel_call, scratch_bytes=evaluate(kernel_call.scratch_bytes, {}) - 64)]
    assert "exit status" in run_cases(widest, [case])[0][0]


def test_an_epilogue_and_a_bias_are_parts_of_the_kernel() -> None:
    plain = call_of(conv(*SAME), (1, 9, 9, 32), (64, 32, 3, 3))
    op = Conv(*SAME, channels_last=True, epilogue=call("neg", Arg(0, DType.F32)))
    node, _, _ = build_node(Sample(op, (array(1, 9, 9, 32), array(64, 32, 3, 3), array(64)), (1, 2)), False)
    [other] = ImplicitProduct().lower(node, PI5)
    assert "NoEpilogue" in plain.kernel.source
    assert "2, false" in plain.kernel.source
    assert "NoEpilogue" not in other.kernel.source
    assert "2, true" in other.kernel.source
