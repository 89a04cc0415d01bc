"""Operators that the ONNX specification itself defines by a function of simpler ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import onnx
from onnx import AttributeProto, FunctionProto, NodeProto, TensorProto, TypeProto

from cuvil_edge.ir.dim import Extent
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Value

_CODES = {
    DType.F32: TensorProto.FLOAT,
    DType.F16: TensorProto.FLOAT16,
    DType.F64: TensorProto.DOUBLE,
    DType.I8: TensorProto.INT8,
    DType.U8: TensorProto.UINT8,
    DType.I16: TensorProto.INT16,
    DType.U16: TensorProto.UINT16,
    DType.I32: TensorProto.INT32,
    DType.U32: TensorProto.UINT32,
    DType.I64: TensorProto.INT64,
    DType.U64: TensorProto.UINT64,
    DType.BOOL: TensorProto.BOOL,
}


def has_function(domain: str, op_type: str, version: int) -> bool:
    """Whether the specification defines the operator by a function."""
    schema = _schema(domain, op_type, version)
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def function_of(
    domain: str, op_type: str, version: int, node: NodeProto, inputs: Sequence[Value | None]
) -> tuple[FunctionProto, dict[str, AttributeProto]] | None:
    """The function that defines ``node`` for inputs of these types, and the defaults of its attributes; or None."""
    schema = _schema(domain, op_type, version)
    if schema is None:
        return None
    defaults = {
        name: attribute.default_value for name, attribute in schema.attributes.items() if attribute.default_value.name
    }
    function = FunctionProto()
    if schema.has_function:
        function.CopyFrom(schema.function_body)
    elif schema.has_context_dependent_function:
        types = [_type_of(value).SerializeToString() for value in inputs]
        function.ParseFromString(schema.get_context_dependent_function(node.SerializeToString(), types))
    else:
        return None
    return function, defaults


@cache
def _schema(domain: str, op_type: str, version: int) -> Any:
    try:
        return onnx.defs.get_schema(op_type, version, domain)
    except onnx.defs.SchemaError:
        return None


def _type_of(value: Value | None) -> TypeProto:
    proto = TypeProto()
    if value is not None:
        proto.tensor_type.elem_type = _CODES[value.type.dtype]
        for extent in value.type.shape:
            _set_dim(proto.tensor_type.shape.dim.add(), extent)
        proto.tensor_type.shape.SetInParent()
    return proto


def _set_dim(dim: onnx.TensorShapeProto.Dimension, extent: Extent) -> None:
    if isinstance(extent, int):
        dim.dim_value = extent
    else:
        dim.dim_param = str(extent)
