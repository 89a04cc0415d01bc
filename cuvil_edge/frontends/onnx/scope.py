"""Conversion of the nodes of one graph, and of what it calls: functions and branches that are known while compiling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np
from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto
from onnx.defs import onnx_opset_version

from cuvil_edge.errors import CuvilError, ModelError, UnsupportedError
from cuvil_edge.frontends.onnx.attributes import Attributes
from cuvil_edge.frontends.onnx.binding import Function, find_binding
from cuvil_edge.frontends.onnx.conversion import (
    LOST,
    Conversion,
    Lost,
    Named,
    check_size,
    declared_shapes,
    default_domain,
)
from cuvil_edge.frontends.onnx.node import OnnxNode
from cuvil_edge.frontends.onnx.schema_functions import function_of, has_function
from cuvil_edge.frontends.onnx.topology import sort_nodes
from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Node, Value
from cuvil_edge.ir.tensor_type import TensorType

_MAX_DEPTH = 32
_MAX_NODES = 100_000
_MALFORMED = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError)


class Scope:
    """Values by name while the nodes of one graph or function body are converted.

    Args:
        opsets: operator set versions by domain.
        outer: the enclosing scope whose values a branch may read; None for the main graph and for functions.
        attributes: a function's attributes as its caller gives them.
        prefix: put before the names of layers, so that those of a function say where it was called.
    """

    def __init__(
        self,
        conversion: Conversion,
        opsets: Mapping[str, int],
        outer: Scope | None = None,
        attributes: Mapping[str, AttributeProto] = MappingProxyType({}),
        prefix: str = "",
        depth: int = 0,
    ) -> None:
        self.conversion = conversion
        self.incomplete = False
        """Whether a node was left out for a fault that is reported already."""
        self._opsets, self._outer, self._attributes = opsets, outer, attributes
        self._prefix, self._depth = prefix, depth
        self._values: dict[str, Named] = {}

    def problem(self, error: CuvilError) -> None:
        """Note a fault; conversion goes on to find the others."""
        self.conversion.problems.append(error)

    def define(self, name: str, value: Named) -> None:
        """Say what a name means."""
        self._values[name] = value

    def define_constant(self, name: str, read: Callable[[], np.ndarray]) -> None:
        """Name a constant that ``read`` returns."""
        try:
            if name in self._values:
                raise ModelError("two initializers have one name")
            array = read()
            self.define(name, Value(name, TensorType(DType.of(array), array.shape), array))
        except CuvilError as error:
            error.thing = f"initializer {name}" + (f" ({error.thing})" if error.thing else "")
            self.problem(error)
            self.define(name, LOST)

    def is_defined(self, name: str) -> bool:
        """Whether the name is known here or outside."""
        return name in self._values or (self._outer is not None and self._outer.is_defined(name))

    def lookup(self, name: str) -> Named:
        """What a name means; lost if it is not defined."""
        if name in self._values or self._outer is None:
            return self._values.get(name, LOST)
        return self._outer.lookup(name)

    def made(self, node: Node) -> bool:
        """Whether the node computes a layer of this scope."""
        return any(layer.startswith(self._prefix) for layer in node.layers)

    def convert(self, graph: GraphProto | FunctionProto) -> None:
        """Convert all nodes in an order that respects their inputs."""
        nodes = list(graph.node)
        names = [self._layer_name(node, index) for index, node in enumerate(nodes)]
        is_outer = self._outer.is_defined if self._outer is not None else lambda name: False
        order, faults = sort_nodes(nodes, self._values, is_outer, names)
        for fault in faults:
            self.problem(fault)
        self.incomplete = bool(faults)
        shapes = declared_shapes(graph)
        for index in order:
            self._convert_node(nodes[index], names[index], shapes)

    def _layer_name(self, node: NodeProto, index: int) -> str:
        name = node.name if node.name.strip() else f"{node.op_type}_{index}"
        return self.conversion.unique_layer(self._prefix + name)

    def _convert_node(self, node: NodeProto, layer: str, shapes: Mapping[str, str]) -> None:
        self.conversion.node_count += 1
        if self.conversion.node_count > _MAX_NODES:
            self._stop(ModelError(f"the model has more than {_MAX_NODES} nodes once its functions are inlined"))
            return
        outputs: list[Named] = [LOST] * len(node.output)
        try:
            outputs = self._outputs_of(node, layer, shapes)
        except CuvilError as error:
            self._note(error, node, layer)
        except _MALFORMED as error:
            fault = ModelError("is malformed", found=f"{type(error).__name__}: {error}" if str(error) else None)
            self._note(fault, node, layer)
        except RecursionError:
            self._note(ModelError("is nested too deeply"), node, layer)
        for name, value in zip(node.output, outputs, strict=True):
            if name:
                self.define(name, value)

    def _stop(self, error: CuvilError) -> None:
        if self.conversion.node_count == _MAX_NODES + 1:
            self.problem(error)
        self.incomplete = True

    def _note(self, error: CuvilError, node: NodeProto, layer: str) -> None:
        if error.thing is None or not error.thing.startswith("node "):
            domain = default_domain(node.domain)
            operator = f"{domain}.{node.op_type}" if domain else node.op_type
            thing = f"node {layer} ({operator})"
            error.thing = f"{thing}: {error.thing}" if error.thing else thing
        self.problem(error)

    def _outputs_of(self, node: NodeProto, layer: str, shapes: Mapping[str, str]) -> list[Named]:
        """Values of the node's outputs; all lost if an input is."""
        domain = default_domain(node.domain)
        attributes = Attributes(node.attribute, self._attributes, self.conversion.tensors)
        function = self.conversion.functions.get((domain, node.op_type))
        binding = find_binding(domain, node.op_type, self._version(domain)) if function is None else None
        is_branch = function is None and domain == "" and node.op_type == "If"
        is_defined = isinstance(binding, str) and has_function(domain, node.op_type, self._version(domain))
        if isinstance(binding, str) and not is_branch and not is_defined:
            raise self._unsupported(binding, node, layer, shapes)
        named = [self.lookup(name) if name else None for name in node.input]
        inputs = [value for value in named if not isinstance(value, Lost)]
        if len(inputs) < len(named):
            return [LOST] * len(node.output)
        if is_branch:
            return self._branch(node, layer, attributes, inputs)
        if function is not None:
            return self._call(function, {}, node, layer, attributes, inputs)
        if binding is None or isinstance(binding, str):
            return self._call_definition(node, layer, attributes, inputs)
        return self._bind(binding, node, layer, attributes, inputs)

    def _bind(
        self, binding: Function, node: NodeProto, layer: str, attributes: Attributes, inputs: list[Value | None]
    ) -> list[Named]:
        """Let a binding add its operations."""
        domain = default_domain(node.domain)
        builder = GraphBuilder(self.conversion.graph, layer, (layer,))
        used = [bool(name) for name in node.output]
        view = OnnxNode(node.op_type, self._version(domain), layer, attributes, inputs, used, builder)
        result = binding(view)
        values = [result] if isinstance(result, Value) else list(result)
        attributes.refuse_unread()
        if any(used[len(values) :]):
            raise UnsupportedError(f"output {len(values)} is not supported", found=str(list(node.output)))
        return self._finish(node, builder, inputs, values)

    def _version(self, domain: str) -> int:
        version = self._opsets.get(domain)
        if version is None:
            raise ModelError(f"the model does not import the operator set {domain or 'ai.onnx'!r}")
        return version

    def _unsupported(self, reason: str, node: NodeProto, layer: str, shapes: Mapping[str, str]) -> UnsupportedError:
        domain = default_domain(node.domain)
        version = self._opsets.get(domain, 0)
        outputs = [f"{name} {shapes[name]}" for name in node.output if name in shapes]
        details = (f"output {', '.join(outputs)}",) if outputs else ()
        operator = f"{domain}.{node.op_type}" if domain else node.op_type
        thing = f"node {layer} ({operator}, {domain or 'ai.onnx'} {version})"
        return UnsupportedError(reason, thing=thing, details=details)

    def _finish(
        self, node: NodeProto, builder: GraphBuilder, inputs: list[Value | None], values: list[Value]
    ) -> list[Named]:
        """Check the sizes of what was made, and give the outputs the user's names."""
        for added in builder.added:
            for value in added.outputs:
                check_size(value)
        named: list[Named] = []
        for index, name in enumerate(node.output):
            if index < len(values):
                if name and values[index] not in inputs:
                    values[index].name = self._prefix + name
                named.append(values[index])
            else:
                named.append(LOST)
        return named

    def _call_definition(
        self, node: NodeProto, layer: str, attributes: Attributes, inputs: list[Value | None]
    ) -> list[Named]:
        """Inline the function by which the specification defines an operator."""
        domain = default_domain(node.domain)
        call = NodeProto()
        call.CopyFrom(node)
        del call.attribute[:]
        call.attribute.extend(attributes.protos().values())
        found = function_of(domain, node.op_type, self._version(domain), call, inputs)
        if found is None:
            raise UnsupportedError("the operator is not supported for these inputs")
        function, defaults = found
        present = {default_domain(entry.domain) for entry in function.opset_import}
        for domain, version in {"": onnx_opset_version(), **self._opsets}.items():
            if domain not in present:
                function.opset_import.add(domain=domain, version=version)
        return self._call(function, defaults, node, layer, attributes, inputs)

    def _call(
        self,
        function: FunctionProto,
        defaults: Mapping[str, AttributeProto],
        node: NodeProto,
        layer: str,
        attributes: Attributes,
        inputs: list[Value | None],
    ) -> list[Named]:
        """Inline a function."""
        self._check_depth(function.name)
        if len(inputs) > len(function.input) or len(node.output) > len(function.output):
            raise ModelError("a function is called with more inputs or outputs than it has")
        given = {**defaults, **{proto.name: proto for proto in function.attribute_proto}, **attributes.protos()}
        opsets = {default_domain(entry.domain): entry.version for entry in function.opset_import} or self._opsets
        inner = Scope(self.conversion, opsets, None, given, f"{layer}/", self._depth + 1)
        for index, name in enumerate(function.input):
            inner.define(name, inputs[index] if index < len(inputs) else None)
        return self._results(inner, function, list(function.output), node)

    def _branch(self, node: NodeProto, layer: str, attributes: Attributes, inputs: list[Value | None]) -> list[Named]:
        """Inline the branch of an If whose condition is known."""
        self._check_depth("If")
        content = inputs[0].known_content() if inputs and inputs[0] is not None else None
        if content is None or content.size != 1 or not isinstance(content.reshape(-1)[0], int):
            raise UnsupportedError("the condition is computed while the model runs", expected="a constant condition")
        graph = attributes.graph("then_branch" if content.reshape(-1)[0] else "else_branch")
        if graph is None or len(graph.output) != len(node.output):
            raise ModelError("a branch is missing or has a wrong number of outputs")
        inner = Scope(self.conversion, self._opsets, self, self._attributes, f"{layer}/", self._depth + 1)
        for tensor in graph.initializer:
            inner.define_constant(tensor.name, partial(self.conversion.tensors.read, tensor))
        return self._results(inner, graph, [value.name for value in graph.output], node)

    def _results(
        self, inner: Scope, body: GraphProto | FunctionProto, names: list[str], node: NodeProto
    ) -> list[Named]:
        """What the outputs of ``node`` are once ``body`` is converted; a body need not make those that nobody uses."""
        inner.convert(body)
        for own, name in zip(node.output, names, strict=False):
            if own and not inner.is_defined(name) and not inner.incomplete:
                raise ModelError(f"nothing makes output {name!r} of {body.name!r}")
        results = [inner.lookup(name) for name in names[: len(node.output)]]
        for own, value in zip(node.output, results, strict=False):
            made_inside = isinstance(value, Value) and value.producer is not None and inner.made(value.producer)
            if own and made_inside and isinstance(value, Value):
                value.name = self._prefix + own
        return results

    def _check_depth(self, name: str) -> None:
        if self._depth >= _MAX_DEPTH:
            raise ModelError(f"{name!r} is nested more than {_MAX_DEPTH} deep, or calls itself")
