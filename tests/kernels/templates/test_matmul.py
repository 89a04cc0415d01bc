"""Risks: an epilogue operand meets the wrong row, a batch is walked with wrong strides, rows of A evict each other."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge.board.board import load_board
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Sample
from cuvil_edge.ir.scalar import Arg, call, cast
from cuvil_edge.kernels.kernel import KernelCall
from cuvil_edge.kernels.templates.matmul import PanelProduct, _Problem
from cuvil_edge.ops.matmul import Matmul
from tests.kernels.harness import Build, build_node, lowered, run_cases

PI5 = load_board("raspberry-pi-5").target()
RANDOM = np.random.default_rng(3)
RESIDUAL = call("sub", Arg(1, DType.F32), Arg(0, DType.F32))


def array(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def lower(op: Matmul, *arrays: np.ndarray | None, constant: tuple[int, ...] = (), symbolic: bool = False) -> KernelCall:
    node, _, _ = build_node(Sample(op, arrays, constant), symbolic)
    [kernel_call] = PanelProduct().lower(node, PI5)
    return kernel_call


def field(kernel_call: KernelCall, name: str) -> object:
    return kernel_call.extents[list(_Problem.__dataclass_fields__).index(name)]


def test_other_types_than_f32_are_refused_by_name() -> None:
    def refusal(op: Matmul, *arrays: np.ndarray) -> str | None:
        return PanelProduct().refuse(build_node(Sample(op, arrays), False)[0], PI5)

    a, b = array(2, 3), array(3, 2)
    assert refusal(Matmul(), a, b) is None
    assert refusal(Matmul(), a.astype(np.float64), b.astype(np.float64)) == "the element type is f64, not f32"
    through_integers = cast(cast(Arg(0, DType.F32), DType.I32), DType.F32)
    assert refusal(Matmul(epilogue=through_integers), a, b) == "the epilogue computes in other types than f32"


@pytest.mark.parametrize("constant", [(), (1,)])
def test_the_items_cover_every_matrix(constant: tuple[int, ...]) -> None:
    for batch, rows, depth, columns in ((1, 1, 8, 8), (3, 65, 100, 33), (2, 1000, 300, 500), (12, 197, 64, 197)):
        kernel_call = lower(Matmul(), array(batch, rows, depth), array(batch, depth, columns), constant=constant)
        block_rows, block_panels = field(kernel_call, "block_rows"), field(kernel_call, "block_panels")
        assert isinstance(block_rows, int)
        assert isinstance(block_panels, int)
        panels = -(-columns // 8)
        assert kernel_call.work_items == batch * -(-rows // block_rows) * -(-panels // block_panels)


def test_matrices_that_follow_one_another_are_one() -> None:
    """Only if all are multiplied by the same b, which is then packed or walked once."""
    merged = lower(Matmul(), array(4, 5, 3), array(3, 7))
    assert (field(merged, "rows"), field(merged, "batch_rank")) == (20, 0)
    own = lower(Matmul(), array(4, 5, 3), array(4, 3, 7))
    assert (field(own, "rows"), field(own, "batch_rank")) == (5, 1)
    turned = lower(Matmul(transpose_a=True), array(4, 3, 5), array(3, 7))
    assert (field(turned, "rows"), field(turned, "batch_rank")) == (5, 1)


def test_strides_are_those_of_the_matrices_as_they_are_stored() -> None:
    kernel_call = lower(Matmul(True, True), array(6, 5), array(7, 6))
    names = ("rows", "depth", "columns", "a_row_stride", "a_depth_stride", "b_depth_stride", "b_column_stride")
    assert [field(kernel_call, name) for name in names] == [5, 6, 7, 1, 5, 1, 6]
    assert field(kernel_call, "copy_rows") == 1, "a row of the transposed a is not in one piece"
    assert field(lower(Matmul(), array(5, 6), array(6, 7)), "copy_rows") == 0


def test_rows_that_collide_are_copied_where_they_are_read_often() -> None:
    assert field(lower(Matmul(), array(64, 4096), array(4096, 64), constant=(1,)), "copy_rows") == 1
    assert field(lower(Matmul(), array(64, 4096), array(4096, 8), constant=(1,)), "copy_rows") == 0
    assert field(lower(Matmul(), array(1, 4096), array(4096, 64), constant=(1,)), "copy_rows") == 0, "one row"
    assert field(lower(Matmul(), array(64, 4080), array(4080, 64), constant=(1,)), "copy_rows") == 0


def test_a_bias_that_is_computed_joins_the_epilogue() -> None:
    a, b, bias = array(4, 3), array(3, 8), array(8)
    known = lower(Matmul(), a, b, bias, constant=(1, 2))
    computed = lower(Matmul(), a, b, bias, constant=(1,))
    assert "NoEpilogue" in known.kernel.source
    assert "NoEpilogue" not in computed.kernel.source
    assert len(computed.operands) == len(known.operands) + 1


@pytest.mark.parametrize("symbolic", [False, True])
def test_scratch_is_enough_for_copies_and_panels(native: Build, symbolic: bool) -> None:
    samples = [
        (f"{op} {a} {b} {constant}", Sample(op, (array(*a), array(*b)), constant))
        for op, a, b in (
            (Matmul(), (17, 2048), (2048, 136)),
            (Matmul(True), (100, 33), (100, 70)),
            (Matmul(False, True), (230, 19), (37, 19)),
            (Matmul(True, True), (3, 19, 9), (3, 40, 19)),
            (Matmul(), (1, 1), (1, 1)),
            (Matmul(), (5, 0), (0, 4)),
            (Matmul(), (0, 5), (5, 4)),
        )
        for constant in ((), (1,))
    ]
    cases, refused = lowered(samples, native, symbolic=symbolic)
    assert not refused
    for case in cases:
        case.relative_tolerance = 1e-3
    failures, _ = run_cases(native, cases)
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("symbolic", [False, True])
def test_operands_of_the_epilogue_follow_the_rows_of_the_result(widest: Build, symbolic: bool) -> None:
    cases = [
        ((5, 3), (3,), (5,)),
        ((4, 5, 3), (3,), (5,)),
        ((4, 5, 3), (3,), (4, 1)),
        ((4, 5, 3), (3,), (4, 5)),
        ((3,), (3,), ()),
        ((3,), (3, 7), (7,)),
        ((3,), (4, 3, 7), (4, 1)),
        ((3,), (4, 3, 7), (7,)),
        ((4, 5, 3), (3, 7), (5, 1)),
        ((4, 5, 3), (4, 3, 7), (4, 1, 7)),
        ((2, 4, 5, 3), (4, 3, 7), (4, 1, 1)),
        ((2, 4, 5, 3), (4, 3, 7), (2, 1, 5, 1)),
        ((2, 1, 5, 3), (4, 3, 7), (2, 1, 1, 7)),
    ]
    samples = [
        (f"{a} {b} {operand} constant={constant}", Sample(Matmul(epilogue=RESIDUAL), arrays, constant))
        for a, b, operand in cases
        for constant in ((), (1,))
        for arrays in [(array(*a), array(*b), None, array(*operand))]
    ]
    made, refused = lowered(samples, widest, symbolic=symbolic)
    assert not refused
    failures, _ = run_cases(widest, made)
    assert not failures, "\n".join(failures)
