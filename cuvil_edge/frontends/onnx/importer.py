"""``import_onnx``: an ONNX model as a graph, or everything that stands in the way, at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import onnx
from onnx import ModelProto

from cuvil_edge.errors import CuvilError, ModelError, UnsupportedError
from cuvil_edge.frontends.onnx.conversion import LOST, Conversion
from cuvil_edge.frontends.onnx.model_file import read_model
from cuvil_edge.frontends.onnx.scope import Scope
from cuvil_edge.frontends.onnx.symbols import DimRange, SymbolTable
from cuvil_edge.frontends.onnx.tensors import TensorReader, element_type
from cuvil_edge.ir.graph import Graph, Value

OLDEST_OPSET = 7
"""Older operators broadcast by attribute; models of that age need converting first."""


@dataclass(frozen=True)
class ImportedModel:
    """A model as the compiler works on it.

    Attributes:
        graph: the computation; its values and layers carry the user's names.
        name: of the file without suffix, or of the graph.
        sha256: of the model's bytes; with external data, of the model's bytes and all the external data read.
        opset: version of the default operator set.
        metadata: the model's key-value properties (labels, dictionaries), and its producer, version and description.
    """

    graph: Graph
    name: str
    sha256: str
    opset: int
    metadata: dict[str, str] = field(default_factory=dict)


def import_onnx(
    source: str | os.PathLike[str] | bytes | ModelProto, *, dims: Mapping[str, DimRange] | None = None
) -> ImportedModel:
    """Import a model from a path, from bytes or from a message.

    Args:
        dims: ranges of symbolic dimensions by name: ``{"N": 4}`` fixes one, ``{"H": (32, 1024, 32)}`` gives its
            minimum, maximum (None: no limit) and, optionally, what it is a multiple of.

    Raises:
        ModelError: the model is damaged or contradicts itself.
        UnsupportedError: it uses what cuvil-edge does not have. Both list every place in ``details``.
        UsageError: ``dims`` names a dimension that the model does not have.
    """
    file = read_model(source)
    opsets = _opsets(file.proto)
    graph = Graph(file.name)
    conversion = Conversion(graph, TensorReader(file.folder), file.proto.functions)
    symbols = SymbolTable(dims)
    scope = Scope(conversion, opsets)
    _read_initializers(scope, file.proto)
    _read_inputs(scope, file.proto, symbols)
    if not conversion.problems:
        symbols.refuse_unknown()
    try:
        scope.convert(file.proto.graph)
    except RecursionError:
        raise ModelError("subgraphs are nested too deeply", thing=file.name) from None
    _set_outputs(scope, file.proto)
    _raise_all(conversion.problems, file.name)
    graph.remove_dead()
    _make_names_unique(graph)
    sha256 = file.sha256
    if file.folder is not None and file.folder.was_read:
        digest = file.folder.digest.copy()
        digest.update(bytes.fromhex(sha256))
        sha256 = digest.hexdigest()
    return ImportedModel(graph, file.name, sha256, opsets.get("", 0), _metadata(file.proto))


def _opsets(proto: ModelProto) -> dict[str, int]:
    """Versions by domain; the default domain is the empty string."""
    opsets: dict[str, int] = {}
    for entry in proto.opset_import:
        domain = "" if entry.domain == "ai.onnx" else entry.domain
        if opsets.setdefault(domain, entry.version) != entry.version:
            raise ModelError(f"imports the operator set {domain or 'ai.onnx'!r} in two versions")
    version, newest = opsets.get(""), onnx.defs.onnx_opset_version()
    if version is not None and not OLDEST_OPSET <= version <= newest:
        hint = "convert it with onnx.version_converter" if version < OLDEST_OPSET else "update cuvil-edge and onnx"
        raise UnsupportedError("operator set", expected=f"{OLDEST_OPSET} to {newest}", found=str(version), hint=hint)
    return opsets


def _read_initializers(scope: Scope, proto: ModelProto) -> None:
    for tensor in proto.graph.initializer:
        scope.define_constant(tensor.name, partial(scope.conversion.tensors.read, tensor))
    for sparse in proto.graph.sparse_initializer:
        name = sparse.values.name
        scope.define_constant(name, partial(scope.conversion.tensors.read_sparse, sparse))


def _read_inputs(scope: Scope, proto: ModelProto, symbols: SymbolTable) -> None:
    """Graph inputs; those that have an initializer are weights, which old models list as inputs too."""
    seen: set[str] = set()
    for value in proto.graph.input:
        if value.name in seen:
            scope.problem(ModelError("two inputs have one name", thing=f"input {value.name}"))
        seen.add(value.name)
        if scope.is_defined(value.name):
            continue
        try:
            if not value.type.HasField("tensor_type"):
                kind = value.type.WhichOneof("value") or "nothing"
                raise UnsupportedError("is not a tensor", thing=f"input {value.name}", found=kind)
            tensor = value.type.tensor_type
            dtype, shape = element_type(tensor.elem_type), symbols.shape(value.name, tensor)
            scope.define(value.name, scope.conversion.builder.input(value.name, dtype, shape))
        except (ModelError, UnsupportedError) as error:
            error.thing = error.thing or f"input {value.name}"
            scope.problem(error)
            scope.define(value.name, LOST)


def _set_outputs(scope: Scope, proto: ModelProto) -> None:
    graph = scope.conversion.graph
    if not proto.graph.output:
        scope.problem(ModelError("the model has no outputs"))
    for output in proto.graph.output:
        if output.name in graph.output_names:
            scope.problem(ModelError("two outputs have one name", thing=f"output {output.name}"))
        elif not scope.is_defined(output.name):
            if not scope.incomplete:
                scope.problem(ModelError("nothing makes this output", thing=f"output {output.name}"))
        elif isinstance(value := scope.lookup(output.name), Value):
            graph.outputs.append(value)
            graph.output_names.append(output.name)


def _make_names_unique(graph: Graph) -> None:
    """Give values that share a name with another one a number; inputs and outputs keep theirs."""
    kept = {value: value.name for value in (*graph.inputs, *graph.outputs)}
    used = set(kept.values())
    for value in graph.values():
        if value in kept:
            continue
        name, count = value.name, 1
        while name in used:
            count += 1
            name = f"{value.name}_{count}"
        used.add(name)
        value.name = name


def _metadata(proto: ModelProto) -> dict[str, str]:
    metadata = {
        "producer_name": proto.producer_name,
        "producer_version": proto.producer_version,
        "description": proto.doc_string,
        **{entry.key: entry.value for entry in proto.metadata_props},
    }
    return {key: value for key, value in metadata.items() if value}


def _raise_all(problems: list[CuvilError], name: str) -> None:
    """One error for all problems: ModelError if the model itself is wrong anywhere, else UnsupportedError."""
    if not problems:
        return
    if len(problems) == 1:
        raise problems[0]
    unsupported = all(isinstance(problem, UnsupportedError) for problem in problems)
    kind = UnsupportedError if unsupported else ModelError
    what = "the model uses what is not supported" if unsupported else "the model has faults"
    lines = tuple(dict.fromkeys(_line(problem) for problem in problems))
    hints = dict.fromkeys(problem.hint for problem in problems if problem.hint)
    raise kind(f"{what} ({len(lines)} places)", thing=name, details=lines, hint="; ".join(hints) or None)


def _line(problem: CuvilError) -> str:
    text = f"{problem.thing}: {problem.what}" if problem.thing else problem.what
    parts = [f"{label} {part}" for label in ("expected", "found") if (part := getattr(problem, label))]
    return "; ".join([text, *problem.details, *parts])
