"""Shapes that reach the blocked and split paths, which the small samples of the operations do not."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge.ir.dim import evaluate
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Op, Sample
from cuvil_edge.ir.scalar import Arg, Literal, call, cast
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.arg_max import ArgMax
from cuvil_edge.ops.average_pool import AveragePool
from cuvil_edge.ops.concat import Concat
from cuvil_edge.ops.exp import Exp
from cuvil_edge.ops.fused_elementwise import FusedElementwise
from cuvil_edge.ops.gather import Gather
from cuvil_edge.ops.layer_normalization import LayerNormalization
from cuvil_edge.ops.max_pool import MaxPool
from cuvil_edge.ops.pad import Pad
from cuvil_edge.ops.reduce_max import ReduceMax
from cuvil_edge.ops.reduce_mean import ReduceMean
from cuvil_edge.ops.reduce_sum import ReduceSum
from cuvil_edge.ops.resize import Resize
from cuvil_edge.ops.slice import Slice
from cuvil_edge.ops.softmax import Softmax
from cuvil_edge.ops.tile import Tile
from cuvil_edge.ops.transpose import Transpose
from tests.kernels.harness import Build, lowered, run_cases

F32, U8 = DType.F32, DType.U8


def array(*shape: int, dtype: DType = F32, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng([seed, *shape])
    if dtype.is_float:
        return random.standard_normal(shape).astype(dtype.numpy)
    return random.integers(0, 100, shape).astype(dtype.numpy)


def check(
    build: Build, samples: list[tuple[Op, tuple[np.ndarray, ...]]], *, needs: str = "", split: bool = False
) -> None:
    """Run the samples; each kernel's source must contain ``needs``, and with ``split`` there must be several items."""
    named = [(f"{op}"[:80] + str([a.shape for a in arrays]), Sample(op, arrays)) for op, arrays in samples]
    cases, refusals = lowered(named, build)
    assert not refusals
    for case in cases:
        assert all(needs in call.kernel.source for call in case.calls), case.name
        assert not split or max(evaluate(call.work_items, {}) for call in case.calls) > 1, case.name
    failures, _ = run_cases(build, cases)
    assert not failures, "\n".join(failures[:20])


@pytest.mark.parametrize("period", [2, 3, 7, 24, 100, 255, 256])
def test_short_rows_with_a_repeated_operand(native: Build, period: int) -> None:
    rows = 2000 // period + 3
    check(
        native,
        [
            (Add(), (array(rows, period), array(period))),
            (Add(), (array(period), array(7, rows, period))),
            (Add(), (array(3, rows, period), array(3, 1, period))),
        ],
        needs="Periodic",
    )


def test_short_rows_of_mixed_types_and_scalars(native: Build) -> None:
    pixel = cast(Arg(0, U8), F32)
    normal = call("div", call("sub", pixel, Arg(1, F32)), Arg(2, F32))
    image = FusedElementwise(normal)
    masked = FusedElementwise(
        call("select", Arg(0, DType.BOOL), call("mul", Arg(1, F32), Arg(2, F32)), Literal(0, F32))
    )
    check(
        native,
        [
            (image, (array(150, 40, 3, dtype=U8), array(3, seed=1), array(3, seed=2) + 4)),
            (masked, (array(5) > 0, array(900, 5), np.array(3, np.float32))),
            (masked, (array(2, 1, 5) > 0, array(2, 900, 5), array(2, 1, 1))),
        ],
        needs="Periodic",
    )


def test_rows_that_cannot_be_flattened(native: Build) -> None:
    a, b = Arg(0, F32), Arg(1, F32)
    check(
        native,
        [
            (Add(), (array(900, 5), array(900, 1))),
            (FusedElementwise(call("add", a, call("mul", b, Arg(2, F32)))), (array(900, 5), array(900, 1), array(5))),
        ],
        needs="loop.h",
    )


def test_long_and_wide_loops_are_split(native: Build) -> None:
    check(
        native,
        [
            (Exp(), (array(100003),)),
            (Add(), (array(3, 50001), array(50001))),
            (Add(), (array(50001, 3), array(3))),
            (Add(), (array(50001, 3), array(50001, 1))),
            (Slice((40000, 0), (-1, 3), (0, 1), (-1, 1)), (array(40001, 4),)),
            (Tile((1, 30)), (array(300, 7),)),
        ],
        split=True,
    )


@pytest.mark.parametrize("dtype", ["f32", "u8", "f16", "i64"])
def test_transpositions_in_blocks_with_every_kind_of_edge(native: Build, dtype: str) -> None:
    shapes = [(64, 64), (65, 130), (16, 48), (15, 17), (130, 65), (1, 70), (5, 129)]
    samples: list[tuple[Op, tuple[np.ndarray, ...]]] = [
        (Transpose((1, 0)), (array(*shape, dtype=DType(dtype)),)) for shape in shapes
    ]
    samples += [
        (Transpose((0, 2, 1)), (array(3, 70, 65, dtype=DType(dtype)),)),
        (Transpose((2, 1, 0)), (array(70, 3, 65, dtype=DType(dtype)),)),
        (Transpose((3, 0, 2, 1)), (array(5, 18, 4, 20, dtype=DType(dtype)),)),
    ]
    check(native, samples)


@pytest.mark.parametrize("channels", [2, 3, 4])
def test_images_change_layout(native: Build, channels: int) -> None:
    check(
        native,
        [
            (Transpose((0, 2, 3, 1)), (array(2, channels, 33, 65),)),
            (Transpose((0, 3, 1, 2)), (array(2, 33, 65, channels),)),
            (Transpose((0, 3, 1, 2)), (array(2, 33, 65, channels, dtype=U8),)),
            (Transpose((2, 0, 3, 1)), (array(5, channels, 9, 21),)),
        ],
        needs="run_transpose",
    )


def test_large_transpositions_are_split(native: Build) -> None:
    shapes = [(300, 200), (3, 40000), (40000, 3), (40000, 20), (20, 40000)]
    samples: list[tuple[Op, tuple[np.ndarray, ...]]] = [(Transpose((1, 0)), (array(*shape),)) for shape in shapes]
    check(native, [*samples, (Transpose((0, 2, 1)), (array(900, 9, 11),))], split=True)


def test_long_sums_stay_accurate(native: Build) -> None:
    x = np.abs(array(1 << 20)) + 1
    wide = np.abs(array(70000, 5)) + 1
    for op, data in ((ReduceSum((0,)), x), (ReduceMean((0,)), x), (ReduceSum((0,)), wide)):
        cases, _ = lowered([(f"{op}", Sample(op, (data,)))], native)
        cases[0].relative_tolerance = 2e-6
        failures, _ = run_cases(native, cases)
        assert not failures, failures


@pytest.mark.parametrize("columns", [1, 15, 16, 17, 33, 64, 100, 200])
def test_reductions_of_columns_of_every_width(native: Build, columns: int) -> None:
    x = array(131, columns)
    samples: list[tuple[Op, tuple[np.ndarray, ...]]] = [(ReduceMean((0,)), (x,)), (ReduceMax((0,)), (x,))]
    check(native, [*samples, (ReduceSum((0, 2)), (array(7, 5, 9, columns),))])


def test_rows_of_every_length(native: Build) -> None:
    samples: list[tuple[Op, tuple[np.ndarray, ...]]] = []
    for n in [*range(1, 36), 63, 64, 65, 79, 81, 129]:
        x = array(3, n)
        samples += [
            (op, (x,)) for op in (ReduceSum((1,)), ReduceMax((1,)), Softmax(1), ArgMax(1), ArgMax(1, True, True))
        ]
        samples += [(LayerNormalization(1, 0.1), (x, array(n, seed=1), array(n, seed=2))), (Exp(), (x,))]
    check(native, samples)


def test_large_reductions_are_split(native: Build) -> None:
    check(
        native,
        [
            (ReduceSum((1,)), (array(300, 700),)),
            (ReduceMean((1,)), (array(3, 2000, 300),)),
            (ReduceMax((0, 2)), (array(40, 30, 50, 20),)),
            (ArgMax(1), (array(300, 700),)),
        ],
        split=True,
    )


def test_nan_wins_wherever_it_is(native: Build) -> None:
    samples: list[tuple[Op, tuple[np.ndarray, ...]]] = []
    for position in (0, 7, 64, 199):
        row, columns = array(3, 200), array(200, 20)
        row[1, position] = columns[position, 3] = np.nan
        samples += [(ReduceMax((1,)), (row,)), (ReduceMax((0,)), (columns,)), (ArgMax(1), (row,)), (Softmax(1), (row,))]
        samples += [(MaxPool((3, 1), (2, 1), (0,) * 4, (1, 1), channels_last=True), (columns[None, :, None],))]
    check(native, samples)


@pytest.mark.parametrize("columns", [1, 5, 16, 100, 130, 700])
def test_softmax_down_columns(native: Build, columns: int) -> None:
    check(native, [(Softmax(0), (array(50, columns),)), (Softmax(1), (array(3, 41, columns) * 20,))])


def test_rows_are_normalized_in_parts(native: Build) -> None:
    scale, bias = array(770, seed=1), array(770, seed=2)
    layer = LayerNormalization(1)
    check(native, [(layer, (array(40, 770) * 3 + 1000, scale, bias)), (Softmax(1), (array(40, 770),))], split=True)


def test_pools_over_many_channels(native: Build) -> None:
    x = array(2, 23, 19, 150)
    window = ((3, 3), (2, 2), (1, 1, 1, 1), (1, 1))
    check(
        native,
        [
            (MaxPool(*window, channels_last=True), (x,)),
            (AveragePool(*window, channels_last=True), (x,)),
            (AveragePool(*window, ceil_mode=True, channels_last=True, count_include_pad=True), (x,)),
            (AveragePool((5, 1), (1, 1), (2, 0, 2, 0), (1, 1)), (array(2, 1, 40, 700),)),
        ],
        split=True,
    )


def test_resizing_of_images(native: Build) -> None:
    x, none = array(1, 20, 30, 40), (None,) * 4
    check(
        native,
        [
            (Resize((1, 40, 60, 40), none, "nearest", channels_last=True), (x,)),
            (Resize((1, 40, 60, 40), none, "linear", channels_last=True), (x,)),
            (Resize((1, 37, 41, 40), none, "cubic", "align_corners", channels_last=True), (x,)),
            (Resize((1, 3, 100, 120), none, "linear"), (array(1, 3, 50, 60, dtype=U8),)),
        ],
        split=True,
    )


def test_copies_in_parts(native: Build) -> None:
    table, indices = array(1000, 96), np.arange(-400, 400, dtype=np.int64)
    check(
        native,
        [
            (Concat(1), (array(3000, 8), array(3000, 24))),
            (Pad((0, 3, 2, 0, 0, 3, 2, 0)), (array(2, 50, 60, 8),)),
            (Pad((0, 3, 2, 0, 0, 3, 2, 0), "reflect"), (array(2, 50, 60, 8),)),
            (Gather(0), (table, indices)),
            (Gather(1), (table, np.arange(0, 96, 3, dtype=np.int32))),
        ],
        split=True,
    )
