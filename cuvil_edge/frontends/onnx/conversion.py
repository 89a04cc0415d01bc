"""What the scopes of one import share: the graph, the problems, the meaning of names, and limits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from onnx import FunctionProto, GraphProto

from cuvil_edge.errors import CuvilError, ModelError, UnsupportedError
from cuvil_edge.frontends.onnx.tensors import MAX_BYTES, TensorReader, element_type
from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.dim import Dim, Extent, Symbol, bounds
from cuvil_edge.ir.graph import Graph, Value

_MAX_ATOMS = 4096


class Lost:
    """Stands for a value whose node could not be converted; the fault is reported already."""


LOST: Final = Lost()
Named = Value | None | Lost
"""What a name means: a value, an optional input that is left out, or a value that could not be had."""


class Conversion:
    """What all scopes of one import share: the graph, the problems found so far, and names that are taken."""

    def __init__(self, graph: Graph, tensors: TensorReader, functions: Iterable[FunctionProto]) -> None:
        self.graph = graph
        self.tensors = tensors
        self.builder = GraphBuilder(graph)
        self.problems: list[CuvilError] = []
        self.functions = {(default_domain(function.domain), function.name): function for function in functions}
        self.node_count = 0
        self._layers: set[str] = set()

    def unique_layer(self, wanted: str) -> str:
        """``wanted``, with a number where another node has that name already."""
        name, count = wanted, 1
        while name in self._layers:
            count += 1
            name = f"{wanted}_{count}"
        self._layers.add(name)
        return name


def default_domain(domain: str) -> str:
    """The domain, with the one spelling of the default domain: empty."""
    return "" if domain == "ai.onnx" else domain


def declared_shapes(graph: GraphProto | FunctionProto) -> dict[str, str]:
    """Types of intermediate values as the model states them; shown beside unsupported operators only."""
    shapes: dict[str, str] = {}
    for value in [*graph.value_info, *(graph.output if isinstance(graph, GraphProto) else ())]:
        if value.type.HasField("tensor_type") and value.type.tensor_type.HasField("shape"):
            extents = [dim.dim_param or str(dim.dim_value or "?") for dim in value.type.tensor_type.shape.dim]
            try:
                dtype = element_type(value.type.tensor_type.elem_type).value
            except UnsupportedError:
                dtype = "?"
            shapes[value.name] = f"{dtype}[{', '.join(extents)}]"
    return shapes


def check_size(value: Value) -> None:
    """ModelError for a tensor that no machine can hold, UnsupportedError for a runaway symbolic shape."""
    if bounds(value.type.bytes)[0] >= MAX_BYTES:
        raise ModelError("an output is too large", found=str(value.type))
    contents: list[Extent] = [] if value.content is None else list(value.content.flat)
    if _has_more_atoms((*value.type.shape, *contents), _MAX_ATOMS):
        raise UnsupportedError("a symbolic shape became too complicated", expected=f"at most {_MAX_ATOMS} parts")


def _has_more_atoms(extents: Iterable[Extent], limit: int) -> bool:
    """Whether expressions consist of more than ``limit`` symbols and operations."""
    waiting = [extent for extent in extents if isinstance(extent, Dim)]
    count = 0
    while waiting and count <= limit:
        for monomial in waiting.pop().terms:
            count += 1 + len(monomial)
            for atom in monomial[: limit + 1]:
                if not isinstance(atom, Symbol):
                    waiting += [side for side in (atom.left, atom.right) if isinstance(side, Dim)]
    return count > limit
