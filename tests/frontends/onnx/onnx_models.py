"""Small ONNX models for the tests of the front end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

Shape = Sequence[int | str | None]


def tensor_info(name: str, shape: Shape, dtype: int = TensorProto.FLOAT) -> Any:
    """A graph input or output."""
    return helper.make_tensor_value_info(name, dtype, shape)


def make_model(
    nodes: Sequence[NodeProto],
    inputs: Sequence[Any] = (),
    outputs: Sequence[str] = ("y",),
    constants: dict[str, np.ndarray] | None = None,
    opset: int = 17,
    domains: Sequence[str] = (),
    functions: Sequence[Any] = (),
) -> ModelProto:
    """A model; ``inputs`` are value infos, outputs are named without a type."""
    initializers = [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()]
    graph = helper.make_graph(
        nodes,
        "test",
        inputs or [tensor_info("x", [2, 3])],
        [helper.make_empty_tensor_value_info(n) for n in outputs],
        initializers,
    )
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=10)


def one_node(
    op_type: str, inputs: Sequence[str] = ("x",), outputs: Sequence[str] = ("y",), **attributes: Any
) -> NodeProto:
    """A node named ``node``."""
    return helper.make_node(op_type, inputs, outputs, name="node", **attributes)


def subgraph(nodes: Sequence[NodeProto], outputs: Sequence[str]) -> GraphProto:
    """A branch without inputs."""
    return helper.make_graph(nodes, "branch", [], [helper.make_empty_tensor_value_info(name) for name in outputs])
