"""Risks: an operand is read for the wrong row or column; long chains are unrolled, short ones are not."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge.ir.dim import Dim, Symbol, evaluate
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Sample
from cuvil_edge.ir.scalar import Arg, Literal, ScalarExpr, call, cast
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.kernels.epilogue import make_epilogue, refuse_epilogue
from cuvil_edge.ops.conv import Conv
from tests.kernels.harness import Build, lowered, run_cases

N, H, W = (Dim.of(Symbol(name)) for name in "NHW")
OUTPUT = (N, H, W, 8)
X, A = Arg(0, DType.F32), Arg(1, DType.F32)


def value(*shape: object) -> Value:
    return Value("v", TensorType(DType.F32, shape))


@pytest.mark.parametrize(
    ("shape", "rows", "columns", "extents"),
    [
        ((), "kOne", "kOne", []),
        ((8,), "kOne", "kEach", []),
        ((1, 1, 1, 8), "kOne", "kEach", []),
        (OUTPUT, "kEach", "kEach", [8]),
        ((N, H, W, 1), "kEach", "kOne", [1]),
        ((N, 1, 1, 8), "kImage", "kEach", [H * W, 8]),
        ((N, 1, 1, 1), "kImage", "kOne", [H * W, 1]),
        ((H, 1, 8), "kMapped", "kEach", [3, N, 0, H, 8, W, 0]),
        ((H, W, 8), "kMapped", "kEach", [3, N, 0, H, W * 8, W, 8]),
        ((N, 1, W, 1), "kMapped", "kOne", [3, N, W, H, 0, W, 1]),
    ],
)
def test_how_an_operand_is_found(shape: tuple[object, ...], rows: str, columns: str, extents: list[object]) -> None:
    epilogue = make_epilogue(call("add", X, A), [value(*shape)], OUTPUT)
    assert f"{{cuvil::kernels::Rows::{rows}, cuvil::kernels::Columns::{columns}}}" in epilogue.source
    assert list(epilogue.extents) == extents


def test_the_extents_find_the_element_that_broadcasting_means() -> None:
    sizes, source = {"N": 2, "H": 3, "W": 4}, np.random.default_rng(0)
    concrete = tuple(evaluate(extent, sizes) for extent in OUTPUT)
    for shape in ((H, 1, 8), (H, W, 8), (N, 1, W, 1), (1, H, W, 8), (N, H, 1, 8), (W, 1)):
        array = source.standard_normal(tuple(evaluate(extent, sizes) for extent in shape))
        wanted = np.broadcast_to(array, concrete).reshape(-1, 8)
        epilogue = make_epilogue(call("add", X, A), [value(*shape)], OUTPUT)
        rank, *pairs = (evaluate(extent, sizes) for extent in epilogue.extents)
        assert (rank, len(pairs)) == (3, 6)
        for row in range(wanted.shape[0]):
            rest, offset = row, 0
            for extent, stride in reversed(list(zip(pairs[::2], pairs[1::2], strict=True))):
                rest, offset = rest // extent, offset + rest % extent * stride
            columns = range(offset, offset + 8) if shape[-1] == 8 else [offset] * 8
            np.testing.assert_array_equal(array.reshape(-1)[list(columns)], wanted[row], err_msg=f"{shape} {row}")


def test_results_without_columns_have_rows_alone() -> None:
    one = make_epilogue(call("add", X, A), [value(N, H)], (N, H), one_column=True)
    assert "Rows::kEach, cuvil::kernels::Columns::kOne" in one.source
    assert one.extents == (1,)
    assert "Rows::kOne, cuvil::kernels::Columns::kOne" in make_epilogue(X, [value()], (), one_column=True).source


def test_operands_keep_their_order() -> None:
    first, second = value(8), value(*OUTPUT)
    epilogue = make_epilogue(call("sub", Arg(2, DType.F32), A), [first, second], OUTPUT)
    assert [operand.value for operand in epilogue.operands] == [first, second]
    assert "kOperands = 2" in epilogue.source
    assert epilogue.source.index("e[1]") < epilogue.source.index("e[0]")


def chain(length: int) -> ScalarExpr:
    tree: ScalarExpr = X
    for _ in range(length):
        tree = call("add", tree, Literal(1.0, DType.F32))
    return tree


@pytest.mark.parametrize(
    ("tree", "is_long"),
    [
        (chain(1), False),
        (chain(12), False),
        (chain(13), True),
        (call("sigmoid", X), True),
        (call("mul", X, call("tanh", X)), True),
        (call("max", X, Literal(0.0, DType.F32)), False),
    ],
)
def test_only_short_chains_are_unrolled(tree: ScalarExpr, is_long: bool) -> None:
    assert f"kLong = {str(is_long).lower()}" in make_epilogue(tree, [], OUTPUT).source


def test_other_types_are_refused_and_masks_are_not() -> None:
    assert refuse_epilogue(None) is None
    assert refuse_epilogue(call("select", call("gt", X, A), X, A)) is None
    assert refuse_epilogue(cast(X, DType.I32)) == "the epilogue computes in other types than f32"


def test_every_way_to_find_an_operand_gives_the_right_answer(widest: Build) -> None:
    source = np.random.default_rng(1)

    def array(*shape: int) -> np.ndarray:
        return source.standard_normal(shape).astype(np.float32)

    op = Conv((1, 1), (1, 1, 1, 1), (1, 1), channels_last=True, epilogue=call("sub", A, call("mul", X, A)))
    shapes = [(), (19,), (2, 5, 7, 19), (2, 5, 7, 1), (2, 1, 1, 19), (2, 1, 1, 1), (5, 1, 19), (5, 7, 19), (2, 1, 7, 1)]
    samples = [
        (str(shape), Sample(op, (array(2, 5, 7, 6), array(19, 6, 3, 3), None, array(*shape)), (1,))) for shape in shapes
    ]
    for symbolic in (False, True):
        cases, refused = lowered(samples, widest, symbolic=symbolic)
        assert not refused
        failures, _ = run_cases(widest, cases)
        assert not failures, "\n".join(failures)
