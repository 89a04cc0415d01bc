"""The reference evaluator: symbols from shapes, every mistake of an input named, every lie of an operation found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from cuvil_edge.errors import InputError
from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import Dim, Extent, Symbol
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.evaluate import at_symbols, bind_symbols, reference_run
from cuvil_edge.ir.graph import Graph
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ir.verify import GraphFault
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.cast import Cast
from cuvil_edge.ops.expand import Expand
from cuvil_edge.ops.gather import Gather
from cuvil_edge.ops.pad import Pad
from cuvil_edge.ops.relu import Relu
from cuvil_edge.ops.shape import Shape

N, M = Dim.of(Symbol("N")), Dim.of(Symbol("M", 2, 8, 2))


def _graph(shape: tuple[Extent, ...] = (N, M), other: tuple[Extent, ...] | None = None) -> Graph:
    graph = Graph("g")
    builder = GraphBuilder(graph, "node", ("layer",))
    x = builder.input("x", DType.F32, shape)
    y = builder.add1(Relu(), x) if other is None else builder.add1(Add(), x, builder.input("z", DType.F32, other))
    graph.outputs, graph.output_names = [y], ["y"]
    return graph


def _array(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def test_symbols_follow_from_shapes() -> None:
    assert bind_symbols(_graph(), {"x": _array(3, 4)}) == {"N": 3, "M": 4}
    assert bind_symbols(_graph((2 * N, N)), {"x": _array(6, 3)}) == {"N": 3}


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "x: an input is missing"),
        ({"x": _array(1, 2), "q": _array(1)}, "q: the model has no such input"),
        ({"x": _array(1, 2).astype(np.float64)}, r"(?s)does not fit.*f32\[N, M\].*float64"),
        ({"x": _array(2)}, "does not fit"),
        ({"x": _array(0, 2)}, "N at least 1"),
        ({"x": _array(1, 3)}, "multiple of 2"),
        ({"x": _array(1, 10)}, "at most 8"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_inputs_that_do_not_fit_are_named(inputs: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(InputError, match=message):
        reference_run(_graph(), inputs)


def test_expressions_and_repeated_symbols_are_checked() -> None:
    with pytest.raises(InputError, match=r"(?s)expected: \[6, 3\].*found: \[5, 3\]"):
        reference_run(_graph((2 * N, N)), {"x": _array(5, 3)})
    with pytest.raises(InputError, match="does not fit"):
        reference_run(_graph((N, N)), {"x": _array(2, 3)})


def test_checks_between_symbols_are_made() -> None:
    graph = _graph((N,), (Dim.of(Symbol("K")),))
    assert reference_run(graph, {"x": _array(3), "z": _array(3)})[0].tolist() == [2, 2, 2]
    with pytest.raises(InputError, match=r"(?s)broadcast.*N == K.*3, 4"):
        reference_run(graph, {"x": _array(3), "z": _array(4)})


def test_attributes_that_depend_on_symbols_are_evaluated() -> None:
    assert at_symbols(Pad((0, N, 0, N - 1)), {"N": 3}) == Pad((0, 3, 0, 2))
    relu = Relu()
    assert at_symbols(relu, {"N": 3}) is relu
    graph = Graph("g")
    builder = GraphBuilder(graph, "node", ("layer",))
    x = builder.input("x", DType.F32, (N, 1))
    graph.outputs = [builder.add1(Expand((N, N + 1)), x)]
    assert reference_run(graph, {"x": _array(2, 1)})[0].shape == (2, 3)


def test_values_without_a_producer_come_from_their_content() -> None:
    graph = Graph("g")
    builder = GraphBuilder(graph, "node", ("layer",))
    x = builder.input("x", DType.F32, (N, 4))
    shape = builder.add1(Shape(), x)
    graph.outputs = [builder.add1(Cast(DType.F32), shape), shape]
    del graph.nodes[0]
    shape.producer = None
    floats, extents = reference_run(graph, {"x": _array(3, 4)})
    assert floats.tolist() == extents.tolist() == [3, 4]
    assert extents.dtype == np.int64


def test_an_index_out_of_range_is_the_users_mistake() -> None:
    graph = Graph("g")
    builder = GraphBuilder(graph, "pick", ("layer",))
    x, index = builder.input("x", DType.F32, (3,)), builder.input("i", DType.I64, (1,))
    graph.outputs = [builder.add1(Gather(), x, index)]
    with pytest.raises(InputError, match="pick"):
        reference_run(graph, {"x": _array(3), "i": np.array([3])})


@dataclass(frozen=True)
class _Liar(Op):
    shape: tuple[int, ...] = (2,)
    dtype: DType = DType.F32

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        return [TensorType(self.dtype, self.shape)]

    def reference(self, x: np.ndarray) -> np.ndarray:
        return x

    @classmethod
    def samples(cls) -> list[Sample]:
        return []


@pytest.mark.parametrize("op", [_Liar((3,)), _Liar((2,), DType.I32)], ids=str)
def test_a_reference_that_differs_from_its_inference_is_a_fault(op: Op) -> None:
    graph = Graph("g")
    builder = GraphBuilder(graph, "node", ("layer",))
    graph.outputs = [builder.add1(op, builder.input("x", DType.F32, (2,)))]
    with pytest.raises(GraphFault, match="the reference gives"):
        reference_run(graph, {"x": _array(2)})
