"""Nests: simplification keeps every address, and work is split without gaps."""

from __future__ import annotations

import itertools
import random
from operator import mul

import pytest

from cuvil_edge.ir.dim import Dim, Extent, Symbol, evaluate
from cuvil_edge.kernels.loop_call import ITEM_ELEMENTS, split_work
from cuvil_edge.kernels.nest import Access, Nest, broadcast_nest, broadcast_strides, collapse, reorder, row_major


def addresses(nest: Nest) -> list[tuple[int, ...]]:
    """What is touched at each point in order: one element of each operand."""
    ranges = [range(evaluate(extent, {})) for extent in nest.extents]
    strides = [[evaluate(stride, {}) for stride in access.strides] for access in nest.accesses]
    return [tuple(sum(map(mul, own, point)) for own in strides) for point in itertools.product(*ranges)]


def random_nest(seed: int) -> Nest:
    choose = random.Random(seed)
    shape = tuple(choose.choice([1, 1, 2, 3, 4]) for _ in range(choose.randint(0, 5)))
    dense = row_major(shape)
    order = list(range(len(shape)))
    choose.shuffle(order)
    reads = [
        Access(dense),
        Access(tuple(choose.choice([0, stride]) for stride in dense)),
        Access(tuple(dense[axis] for axis in order)),
        Access(tuple(-stride for stride in dense)),
    ]
    return Nest(shape, (*choose.sample(reads, choose.randint(0, 3)), Access(dense)))


@pytest.mark.parametrize("seed", range(200))
def test_collapsing_keeps_points_and_order(seed: int) -> None:
    nest = random_nest(seed)
    collapsed = collapse(nest)
    assert addresses(collapsed) == addresses(nest)
    assert len(collapsed.extents) <= max(1, len(nest.extents))


def test_dense_operands_become_one_axis() -> None:
    n = Dim.of(Symbol("N"))
    nest = collapse(broadcast_nest([(n, 3, 1, 7), (n, 3, 1, 7)], (n, 3, 1, 7)))
    assert nest.extents == (n * 21,)
    assert all(access.strides == (1,) for access in nest.accesses)


def test_a_bias_leaves_two_axes_whatever_the_symbols() -> None:
    n, w = Dim.of(Symbol("N")), Dim.of(Symbol("W"))
    nest = collapse(broadcast_nest([(n, 5, w, 8), (8,)], (n, 5, w, 8)))
    assert nest.extents == (n * w * 5, 8)
    assert [access.strides for access in nest.accesses] == [(8, 1), (0, 1), (8, 1)]


def test_scalars_have_one_axis_of_one() -> None:
    nest = collapse(broadcast_nest([(), (1, 1)], (1, 1)))
    assert nest.extents == (1,)
    assert [access.strides for access in nest.accesses] == [(0,), (0,), (1,)]


def test_broadcast_strides_repeat_axes_of_one() -> None:
    assert broadcast_strides((3, 1, 5), (2, 3, 4, 5)) == (0, 5, 0, 1)


def test_reordering_moves_extents_and_strides_together() -> None:
    nest = reorder(broadcast_nest([(2, 3)], (2, 3)), [1, 0])
    assert nest.extents == (3, 2)
    assert nest.output.strides == (1, 3)


SIZES = [0, 1, 2, 63, 64, 65, 1000, 16383, 16384, 16385, 40000, 1 << 20]


@pytest.mark.parametrize("outer", SIZES)
@pytest.mark.parametrize("inner", SIZES)
@pytest.mark.parametrize("symbolic", [False, True])
def test_work_is_split_without_gaps(outer: int, inner: int, symbolic: bool) -> None:
    values = {"outer": outer, "inner": inner}
    extents: list[Extent] = [outer, inner]
    if symbolic:
        extents = [Dim.of(Symbol(name, min=0)) for name in values]
    split = split_work(extents[0], extents[1])
    rows, columns = evaluate(split.outer_per_item, values), evaluate(split.inner_per_item, values)
    items = evaluate(split.items, values)
    assert rows >= 1
    assert columns >= 1
    assert items == -(-outer // rows) * -(-inner // columns)
    assert rows * min(columns, inner) <= 2 * ITEM_ELEMENTS
    if 0 < outer * inner <= ITEM_ELEMENTS:
        assert items == 1
    if outer * inner == 0:
        assert items == 0
