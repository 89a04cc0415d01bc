"""Operations as values, and what they do by default."""

from __future__ import annotations

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.dim import Dim, Symbol
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Graph
from cuvil_edge.ir.op import Cost, Op
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops.gather import Gather
from cuvil_edge.ops.reshape import Reshape
from cuvil_edge.ops.transpose import Transpose


def test_operations_are_equal_by_type_and_attributes() -> None:
    assert Gather(1) == Gather(1)
    assert Gather(1) != Gather(0)
    assert hash(Transpose((1, 0))) == hash(Transpose((1, 0)))
    assert Gather().name == "gather"


def test_the_default_cost_is_traffic() -> None:
    n = Dim.of(Symbol("N"))
    x, y = TensorType(DType.F32, (n, 3)), TensorType(DType.I64, (n,))
    assert Op.cost(Reshape((1,)), [x, None], [y]) == Cost(0, 12 * n, 8 * n)


def test_the_default_is_basic_and_bound_to_its_axes() -> None:
    builder = GraphBuilder(Graph("g"))
    assert Gather().decompose(builder, []) is None
    assert Gather().transposed((1, 0)) is None
    assert not Gather().is_view
    assert Reshape(()).is_view


def test_contents_need_every_input() -> None:
    builder = GraphBuilder(Graph("g"))
    table, index = builder.constant(np.array([5, 6, 7])), builder.constant(np.array(2))
    unknown = builder.input("i", DType.I64, ())
    assert Gather().contents([table, index])[0].tolist() == 7  # type: ignore[index]
    assert Gather().contents([table, unknown]) is None
