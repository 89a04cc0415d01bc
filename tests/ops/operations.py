"""All operations with their samples, and graphs of one operation, for the tests of operations."""

from __future__ import annotations

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.dim import Dim, Extent, Symbol
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Graph, Value
from cuvil_edge.ir.op import Op, Sample
from cuvil_edge.registry import load_plugins

OPS = load_plugins("cuvil_edge.ops", Op)  # type: ignore[type-abstract]
FIXED = {("gather_nd", 1)}
"""Inputs whose extents decide what the operation does, and may not be symbols."""


def outputs_of(result: np.ndarray | tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """What a reference returns, as a list of arrays."""
    return [np.asarray(array) for array in (result if isinstance(result, tuple) else (result,))]


def run(op: Op, inputs: tuple[np.ndarray | None, ...]) -> list[np.ndarray]:
    """The reference's outputs."""
    with np.errstate(all="ignore"):
        return outputs_of(op.reference(*inputs))


def graph_of(sample: Sample, *, symbolic: bool = False) -> tuple[Graph, list[Value]]:
    """A graph whose only node is the sample's operation; inputs are named x0, x1, ... by position.

    ``symbolic``: each extent but 1 is a symbol, equal extents the same one.
    """
    graph = Graph("test")
    builder = GraphBuilder(graph, "node", ("layer",))
    values: list[Value | None] = []
    for index, given in enumerate(sample.inputs):
        if given is None:
            values.append(None)
            continue
        array = np.asarray(given)
        if index in sample.constant:
            values.append(builder.constant(array, f"c{index}"))
        else:
            is_fixed = not symbolic or (sample.op.name, index) in FIXED
            shape = array.shape if is_fixed else _symbolic_shape(array)
            values.append(builder.input(f"x{index}", DType.of(array), shape))
    graph.outputs = builder.add(sample.op, values, name="node")
    graph.output_names = [value.name for value in graph.outputs]
    return graph, graph.outputs


def feeds_of(sample: Sample) -> dict[str, np.ndarray]:
    """Arrays of the run-time inputs by the names that ``graph_of`` gives."""
    return {
        f"x{index}": np.asarray(array)
        for index, array in enumerate(sample.inputs)
        if array is not None and index not in sample.constant
    }


def _symbolic_shape(array: np.ndarray) -> tuple[Extent, ...]:
    return tuple(extent if extent == 1 else Dim.of(Symbol(f"n{extent}", min=0)) for extent in array.shape)


def assert_same(got: list[np.ndarray], want: list[np.ndarray], relative: float = 1e-5) -> None:
    """Types, shapes and elements; floats within a tolerance of their range."""
    assert len(got) == len(want)
    for mine, theirs in zip(got, want, strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        if mine.dtype.kind != "f":
            np.testing.assert_array_equal(mine, theirs)
            continue
        finite = np.abs(theirs[np.isfinite(theirs)].astype(np.float64))
        scale = float(finite.max()) if finite.size else 1.0
        epsilon = {2: 2e-3, 4: relative, 8: 1e-9}[mine.dtype.itemsize]
        np.testing.assert_allclose(mine, theirs, rtol=epsilon, atol=epsilon * max(scale, 1e-6), equal_nan=True)
