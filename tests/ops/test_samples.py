"""Laws that hold for every operation, checked on its samples."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import suppress
from itertools import permutations

import numpy as np
import pytest

from cuvil_edge.errors import CuvilError
from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.check import Check
from cuvil_edge.ir.dim import evaluate, symbols_of
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.evaluate import at_symbols, concrete_shape, reference_run
from cuvil_edge.ir.graph import Graph
from cuvil_edge.ir.op import Op, Sample
from tests.ops.operations import FIXED, OPS, assert_same, feeds_of, graph_of, run

RANDOM_SHAPES = 3
TRANSPOSED = [name for name, op in OPS.items() if op.transposed is not Op.transposed]
DECOMPOSED = [name for name, op in OPS.items() if op.decompose is not Op.decompose]


def for_every_sample(check: Callable[[Sample], None]) -> Callable[[str], None]:
    """A test for each operation that goes through its samples; a failure names the sample."""

    @pytest.mark.parametrize("name", OPS)
    def test(name: str) -> None:
        for sample in OPS[name].samples():
            try:
                check(sample)
            except Exception as error:
                error.add_note(f"sample {sample.name} of {name}: {sample.op}")
                raise

    test.__doc__ = check.__doc__
    return test


@pytest.mark.parametrize("name", OPS)
def test_operations_have_samples_and_are_values(name: str) -> None:
    samples = OPS[name].samples()
    assert samples
    names = [sample.name for sample in samples]
    assert len(set(names)) == len(names), "samples need names of their own"
    for sample in samples:
        assert sample.op == copy.copy(sample.op)
        assert hash(sample.op) == hash(copy.copy(sample.op))
        assert sample.op.name == name


@for_every_sample
def test_inference_says_what_the_reference_gives(sample: Sample) -> None:
    graph, outputs = graph_of(sample)
    results = run(sample.op, sample.inputs)
    assert not graph.checks.pending
    assert [value.type.dtype for value in outputs] == [DType.of(array) for array in results]
    assert [value.type.shape for value in outputs] == [array.shape for array in results]


@for_every_sample
def test_symbolic_inference_agrees_at_the_samples_extents(sample: Sample) -> None:
    graph, outputs = graph_of(sample, symbolic=True)
    symbols = {f"n{extent}": extent for array in feeds_of(sample).values() for extent in array.shape}
    assert all(_holds(check, symbols) for check in graph.checks.pending), "a check refuses a valid shape"
    results = run(sample.op, sample.inputs)
    assert [concrete_shape(value.type.shape, symbols) for value in outputs] == [array.shape for array in results]
    assert_same(reference_run(graph, feeds_of(sample)), results)


@for_every_sample
def test_symbolic_inference_agrees_at_other_extents(sample: Sample) -> None:
    """Random extents that pass the checks: the reference must give the shape that was inferred with symbols."""
    if sample.op.name == "slice":
        return  # its limits are normal for the extents of the sample only
    graph, outputs = graph_of(sample, symbolic=True)
    feeds = feeds_of(sample)
    original = {symbol.name: int(symbol.name[1:]) for symbol in graph.symbols()}
    random = np.random.default_rng(len(feeds))
    for _ in range(RANDOM_SHAPES if original else 0):
        symbols = {name: int(random.integers(1, 14)) for name in original}
        for check in graph.checks.pending:
            if not _holds(check, symbols):
                fixed = {symbol.name for side in (check.left, check.right) for symbol in symbols_of(side)}
                symbols |= {name: original[name] for name in fixed}
        if not all(_holds(check, symbols) for check in graph.checks.pending):
            continue
        arrays = [
            _resized(array, {} if (sample.op.name, int(name[1:])) in FIXED else symbols)
            for name, array in feeds.items()
        ]
        positions = iter(arrays)
        inputs = tuple(
            array if array is None or index in sample.constant else next(positions)
            for index, array in enumerate(sample.inputs)
        )
        results = run(at_symbols(sample.op, symbols), inputs)
        expected = [concrete_shape(value.type.shape, symbols) for value in outputs]
        assert expected == [array.shape for array in results], symbols


def _holds(check: Check, symbols: dict[str, int]) -> bool:
    left, right = evaluate(check.left, symbols), evaluate(check.right, symbols)
    return left == right if check.relation == "==" else left >= right


def _resized(array: np.ndarray, symbols: dict[str, int]) -> np.ndarray:
    """An array of the same type and other extents, whose integers stay small enough to be indices."""
    shape = tuple(symbols.get(f"n{extent}", extent) for extent in array.shape)
    return np.full(shape, 0 if array.dtype.kind in "iu" else 1, array.dtype)


@for_every_sample
def test_cost_counts_every_byte_once(sample: Sample) -> None:
    graph, outputs = graph_of(sample)
    node = graph.nodes[0]
    cost = sample.op.cost([None if value is None else value.type for value in node.inputs], [v.type for v in outputs])
    arrays = [np.asarray(array) for array in sample.inputs if array is not None]
    assert cost.bytes_read == sum(array.nbytes for array in arrays)
    assert cost.bytes_written == sum(array.nbytes for array in run(sample.op, sample.inputs))
    assert isinstance(cost.flops, int)
    assert cost.flops >= 0


@pytest.mark.parametrize("name", DECOMPOSED)
def test_decompositions_compute_the_same(name: str) -> None:
    decomposed = 0
    for sample in OPS[name].samples():
        graph, _ = graph_of(sample)
        parts = _decomposed(graph)
        if parts is None:
            continue
        decomposed += 1
        with np.errstate(all="ignore"):
            assert_same(reference_run(parts, feeds_of(sample)), run(sample.op, sample.inputs), 2e-5)
    assert decomposed, f"no sample of {name} decomposes"


@pytest.mark.parametrize("name", DECOMPOSED)
def test_decompositions_end_in_basic_operations_and_stay_symbolic(name: str) -> None:
    for sample in OPS[name].samples():
        graph, _ = graph_of(sample, symbolic=True)
        for _ in range(4):
            parts = _decomposed(graph)
            if parts is None:
                break
            graph = parts
        else:
            pytest.fail("decomposition does not come to an end")
        with np.errstate(all="ignore"):
            assert_same(reference_run(graph, feeds_of(sample)), run(sample.op, sample.inputs), 2e-5)


def _decomposed(graph: Graph) -> Graph | None:
    """The graph with every node decomposed once; None if all are basic."""
    result = Graph(graph.name)
    result.inputs, result.checks = graph.inputs, graph.checks
    replaced, changed = {}, False
    for node in graph.nodes:
        builder = GraphBuilder(result, node.name, node.layers)
        inputs = [replaced.get(value, value) for value in node.inputs]
        values = node.op.decompose(builder, inputs)
        changed = changed or values is not None
        if values is None:
            values = builder.add(node.op, inputs)
        replaced.update(zip(node.outputs, values, strict=True))
    result.outputs = [replaced.get(value, value) for value in graph.outputs]
    result.output_names = graph.output_names
    return result if changed else None


@pytest.mark.parametrize("name", TRANSPOSED)
def test_transposed_operations_commute_with_transposition(name: str) -> None:
    """``t(transpose(x, p)) = transpose(op(x), p)`` for every permutation of every sample of rank 2 to 4."""
    checked = 0
    for sample in OPS[name].samples():
        rank = max((np.ndim(array) for array in sample.inputs if array is not None), default=0)
        if rank < 2:
            continue
        for permutation in [*permutations(range(rank))][:: 1 if rank < 4 else 5]:
            checked += _check_transposed(sample, permutation)
    assert checked, f"{name} claims to transpose, and no sample shows it"


def _check_transposed(sample: Sample, permutation: tuple[int, ...]) -> bool:
    moved = sample.op.transposed(permutation)
    inputs = [None if array is None else np.asarray(array) for array in sample.inputs]
    if moved is None or any(array is not None and array.ndim != len(permutation) for array in inputs):
        return False
    results = run(sample.op, tuple(inputs))
    if any(array.ndim != len(permutation) for array in results):
        return False
    turned = tuple(None if array is None else np.transpose(array, permutation) for array in inputs)
    assert_same(run(moved, turned), [np.transpose(array, permutation) for array in results])
    again = Sample(moved, turned, sample.constant)
    assert [value.type.shape for value in graph_of(again)[1]] == [
        np.transpose(array, permutation).shape for array in results
    ]
    return True


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if op.is_view])
def test_views_keep_the_bytes(name: str) -> None:
    for sample in OPS[name].samples():
        [result] = run(sample.op, sample.inputs)
        assert result.tobytes() == np.ascontiguousarray(sample.inputs[0]).tobytes()


@for_every_sample
def test_missing_and_wrong_inputs_are_named_errors(sample: Sample) -> None:
    """Inference of a node with inputs left out, of too low a rank or of another type must not end in a traceback."""
    builder = GraphBuilder(Graph("wrong"), "node")
    scalar = builder.input("s", DType.F32, ())
    flag = builder.input("b", DType.BOOL, (2, 3, 4, 5))
    count = len(sample.inputs)
    for values in ([None] * count, [scalar] * count, [flag] * count, [scalar, *[None] * (count - 1)][:count]):
        with suppress(CuvilError):
            builder.add(sample.op, values)
