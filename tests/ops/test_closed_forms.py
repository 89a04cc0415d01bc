"""Answers that need no second implementation: closed forms, inverses, and one layout against the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops.conv_transpose import ConvTranspose
from cuvil_edge.ops.depth_to_space import DepthToSpace
from cuvil_edge.ops.erf import Erf
from cuvil_edge.ops.extents import Extents
from cuvil_edge.ops.gather_elements import GatherElements
from cuvil_edge.ops.global_lp_pool import GlobalLpPool
from cuvil_edge.ops.log_softmax import LogSoftmax
from cuvil_edge.ops.lp_normalization import LpNormalization
from cuvil_edge.ops.lrn import Lrn
from cuvil_edge.ops.matmul import Matmul
from cuvil_edge.ops.resize import Resize
from cuvil_edge.ops.softplus import Softplus
from cuvil_edge.ops.space_to_depth import SpaceToDepth
from cuvil_edge.ops.swish import Swish
from tests.ops.operations import OPS, assert_same, run

X = np.random.default_rng(0).standard_normal((3, 4, 5, 6)).astype(np.float32)
LAYOUTS = [name for name, op in OPS.items() if "channels_last" in getattr(op, "__dataclass_fields__", {})]


@pytest.mark.parametrize("name", [name for name in LAYOUTS if name != "resize"])
def test_both_layouts_compute_the_same(name: str) -> None:
    checked = 0
    for sample in OPS[name].samples():
        op: Any = sample.op
        x, *others = sample.inputs
        if not op.channels_last or len(others) > 2:
            continue
        first = np.ascontiguousarray(np.moveaxis(np.asarray(x), -1, 1))
        [last_result] = run(op, sample.inputs)
        [first_result] = run(replace(op, channels_last=False), (first, *others))
        assert_same([np.moveaxis(last_result, -1, 1)], [first_result])
        checked += 1
    assert checked


@pytest.mark.parametrize("name", ["conv", "conv_transpose", "matmul"])
def test_an_epilogue_is_applied_to_the_finished_result(name: str) -> None:
    checked = 0
    for sample in OPS[name].samples():
        op: Any = sample.op
        if op.epilogue is None:
            continue
        [plain] = run(replace(op, epilogue=None), sample.inputs[:3])
        [result] = run(op, sample.inputs)
        assert_same([result], [np.clip(plain + np.asarray(sample.inputs[3]), 0, 6)])
        checked += 1
    assert checked


def test_matmul_adds_its_bias_to_every_row() -> None:
    a, b, bias = X[0, 0], X[0, 1].T, X[0, 2, 0, :5]
    assert_same(run(Matmul(), (a, b, bias)), [a @ b + bias])


def test_a_convolution_and_its_transpose_are_adjoint() -> None:
    """``<conv(x), y> = <x, conv_transpose(y)>``, for groups, strides, pads and dilation together."""
    from cuvil_edge.ops.conv import Conv

    random = np.random.default_rng(1)
    x, w = random.standard_normal((2, 6, 9, 8)), random.standard_normal((4, 3, 3, 2))
    conv = Conv((2, 1), (1, 0, 2, 1), (1, 2), 2)
    [forward] = run(conv, (x, w))
    y = random.standard_normal(forward.shape)
    uneven = tuple(int(n) for n in np.subtract(x.shape[2:], run(ConvTranspose(*_same(conv)), (y, w))[0].shape[2:]))
    [backward] = run(replace(ConvTranspose(*_same(conv)), output_padding=uneven), (y, w))
    assert np.isclose(np.sum(forward * y), np.sum(x * backward))


def _same(conv: Any) -> tuple[Any, ...]:
    return conv.strides, conv.pads, conv.dilations, (0, 0), conv.group


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_space_to_depth_is_the_inverse_of_depth_to_space(mode: str) -> None:
    x = np.arange(2 * 12 * 3 * 5, dtype=np.float32).reshape(2, 12, 3, 5)
    [picture] = run(DepthToSpace(2, mode), (x,))
    assert_same(run(SpaceToDepth(2, mode), (picture,)), [x])
    assert picture[0, 0, 0, 1] == x[0, 1 * (3 if mode == "DCR" else 1), 0, 0]


def test_gather_elements_is_take_along_axis() -> None:
    indices = np.random.default_rng(2).integers(-5, 5, (3, 4, 2, 6))
    assert_same(run(GatherElements(2), (X, indices)), [np.take_along_axis(X, indices, 2)])


def test_log_softmax_does_not_underflow() -> None:
    [result] = run(LogSoftmax(0), (np.array([0, 1000], np.float32),))
    assert result.tolist() == [-1000, 0]


def test_l1_normalization_sums_magnitudes() -> None:
    [result] = run(LpNormalization(1, 1), (X,))
    assert np.allclose(np.abs(result).sum(axis=1), 1)
    assert (np.sign(result) == np.sign(X)).all()


def test_global_lp_pool_of_two_is_the_euclidean_length() -> None:
    assert_same(
        run(GlobalLpPool(2), (X,)), [np.sqrt((X.astype(np.float64) ** 2).sum((2, 3), keepdims=True)).astype("f4")]
    )


def test_lrn_of_one_channel_scales_by_its_own_square() -> None:
    expected = X / np.sqrt(2 + 0.5 * X.astype(np.float64) ** 2)
    assert_same(run(Lrn(1, 0.5, 0.5, 2.0), (X,)), [expected.astype(np.float32)])


def test_swish_and_softplus_at_the_ends() -> None:
    x = np.array([-200, 0, 200], np.float32)
    assert run(Swish(), (x,))[0].tolist() == [0, 0, 200]
    assert_same(run(Softplus(), (x,)), [np.array([0, np.log(2), 200], np.float32)])


def test_erf_is_odd_and_bounded() -> None:
    x = np.array([-9, -0.5, 0, 0.5, 9, np.inf], np.float32)
    assert_same(run(Erf(), (x,)), [np.array([-1, -0.5204999, 0, 0.5204999, 1, 1], np.float32)])


def test_align_corners_keeps_the_corners_whatever_the_scale() -> None:
    op = Resize((3, 4, 3, 4), (1.0, 1.0, 0.6, 0.8), "linear", "align_corners")
    [result] = run(op, (X,))
    assert_same([result[..., ::2, ::3]], [X[..., ::4, ::5][..., [0, 1], :][..., [0, 1]][..., [0, 1], :]], 1e-6)


def test_doubling_by_nearest_repeats_every_element() -> None:
    for coordinates, rounding in (("asymmetric", "floor"), ("half_pixel", "round_prefer_floor")):
        op = Resize((3, 4, 10, 12), (1.0, 1.0, 2.0, 2.0), "nearest", coordinates, rounding)
        assert_same(run(op, (X,)), [X.repeat(2, 2).repeat(2, 3)])


def test_extents_have_the_type_that_is_asked_for() -> None:
    [result] = run(Extents((1, 2, 3), (3,), DType.I32), ())
    assert_same([result], [np.array([1, 2, 3], np.int32)])
