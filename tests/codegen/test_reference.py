"""Risks: the reference case asks for more memory than there is; extents break a constraint; no index is ever valid."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge.codegen import reference
from cuvil_edge.codegen.reference import example_symbols, make_reference
from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Check
from cuvil_edge.ir.dim import Dim, Symbol
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops.exp import Exp
from cuvil_edge.ops.expand import Expand
from cuvil_edge.ops.gather import Gather
from cuvil_edge.ops.relu import Relu
from tests.passes.graphs import N, Sketch


def test_the_same_model_gives_the_same_case() -> None:
    sketch = Sketch()
    graph = sketch.outputs(sketch.add(Exp(), sketch.input(N, 3)))
    first, second = make_reference(graph), make_reference(graph)
    assert first.symbols == {"N": 1}
    np.testing.assert_array_equal(first.inputs[0], second.inputs[0])
    np.testing.assert_allclose(first.outputs[0], np.exp(first.inputs[0]), rtol=1e-6)


def test_extents_satisfy_ranges_and_checks() -> None:
    height, width = Symbol("H", 32, 1000, 32), Symbol("W", 1, 50, 1)
    check = Check(Dim.of(height), "==", Dim.of(width) * 4, "fits")
    found = example_symbols([height, width], [check], frozenset())
    assert found["H"] == 4 * found["W"]
    assert found["H"] % 32 == 0
    with pytest.raises(ShapeError, match="constraints"):
        example_symbols([height, width], [Check(Dim.of(height), "==", Dim.of(width) * 100 + 7, "never")], frozenset())


def test_values_larger_than_the_memory_are_refused_before_they_are_made() -> None:
    sketch = Sketch()
    graph = sketch.outputs(sketch.add(Expand((N, 2**40)), sketch.input(N, 1)))
    with pytest.raises(ShapeError, match=r"memory(.|\n)*4,096 GiB at N=1"):
        make_reference(graph)


def test_running_out_of_memory_is_the_same_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(reference, "reference_run", run)
    sketch = Sketch()
    graph = sketch.outputs(sketch.add(Relu(), sketch.input(4, 8)))
    with pytest.raises(ShapeError, match=r"memory(.|\n)*largest is x"):
        make_reference(graph)


def test_indices_stay_within_a_small_table() -> None:
    sketch = Sketch()
    table, rows = sketch.constant(2, 5), sketch.input(N, dtype=DType.I64)
    case = make_reference(sketch.outputs(sketch.add(Gather(0), table, rows)))
    assert case.inputs[0].max() < 2


def test_a_table_without_rows_has_no_valid_index() -> None:
    sketch = Sketch()
    table, rows = sketch.constant(0, 5), sketch.input(N, dtype=DType.I64)
    with pytest.raises(ShapeError, match="no valid input"):
        make_reference(sketch.outputs(sketch.add(Gather(0), table, rows)))
