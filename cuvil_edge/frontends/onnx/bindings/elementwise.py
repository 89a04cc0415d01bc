"""Element-wise operators: one table for those that are one operation, functions for the rest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from cuvil_edge.errors import ModelError
from cuvil_edge.frontends.onnx.binding import binds
from cuvil_edge.frontends.onnx.node import OnnxNode
from cuvil_edge.frontends.onnx.tensors import element_type
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Op
from cuvil_edge.registry import load_plugin

_UNARY = {
    1: "Abs Neg Sqrt Reciprocal Exp Log Tanh Sigmoid Floor Ceil Relu Softplus Softsign",
    7: "Sin Cos Tan Asin Acos Atan",
    9: "Erf Sign Sinh Cosh Asinh Acosh Atanh IsNaN",
    11: "Round",
    14: "HardSwish",
    18: "BitwiseNot Mish",
}
_BINARY = {
    1: "Add Sub Mul Div Less Greater Equal",
    12: "LessOrEqual GreaterOrEqual",
    18: "BitwiseAnd BitwiseOr BitwiseXor",
}
_NAMES = {"IsNaN": "is_nan", "IsInf": "is_inf", "PRelu": "prelu"}
_LOGICAL = {"And": ("logical_and", 2), "Or": ("logical_or", 2), "Xor": ("logical_xor", 2), "Not": ("logical_not", 1)}


def operation(name: str) -> Callable[..., Op]:
    """The operation of that file name."""
    return load_plugin("cuvil_edge.ops", name, Op)  # type: ignore[type-abstract]


def _snake_case(op_type: str) -> str:
    if op_type in _NAMES:
        return _NAMES[op_type]
    return "".join("_" + c.lower() if c.isupper() else c for c in op_type).lstrip("_")


def _apply(node: OnnxNode, name: str, count: int) -> Value:
    node.limit_inputs(count)
    return node.add(operation(name)(), *(node.input(index) for index in range(count)))


def _register_simple() -> None:
    for count, table in ((1, _UNARY), (2, _BINARY)):
        for since, names in table.items():
            for op_type in names.split():
                binds(op_type, since=since)(partial(_apply, name=_snake_case(op_type), count=count))
    for op_type, (name, count) in _LOGICAL.items():
        binds(op_type)(partial(_apply, name=name, count=count))


_register_simple()

_WITH_REALS: dict[str, tuple[int, dict[str, float]]] = {
    "LeakyRelu": (1, {"alpha": 0.01}),
    "Elu": (1, {"alpha": 1.0}),
    "Selu": (1, {"alpha": 1.6732631921768188, "gamma": 1.0507010221481323}),
    "Celu": (12, {"alpha": 1.0}),
    "HardSigmoid": (1, {"alpha": 0.2, "beta": 0.5}),
    "ThresholdedRelu": (10, {"alpha": 1.0}),
    "Shrink": (9, {"bias": 0.0, "lambd": 0.5}),
    "Swish": (24, {"alpha": 1.0}),
}


def _apply_with_reals(node: OnnxNode, name: str, defaults: dict[str, float]) -> Value:
    node.limit_inputs(1)
    values = {key: node.attributes.real(key, default) for key, default in defaults.items()}
    return node.add(operation(name)(**values), node.input(0))


for _op_type, (_since, _defaults) in _WITH_REALS.items():
    binds(_op_type, since=_since)(partial(_apply_with_reals, name=_snake_case(_op_type), defaults=_defaults))


@binds("Gelu", since=20)
def gelu(node: OnnxNode) -> Value:
    """Exact or approximate."""
    approximate = node.attributes.choice("approximate", "none", ("none", "tanh"))
    return node.add(operation("gelu")(approximate=approximate), node.input(0))


@binds("IsInf", since=10)
def is_inf(node: OnnxNode) -> Value:
    """Of the signs that are asked for."""
    negative, positive = (node.attributes.flag(f"detect_{sign}", True) for sign in ("negative", "positive"))
    return node.add(operation("is_inf")(detect_negative=negative, detect_positive=positive), node.input(0))


@binds("Mod", since=10)
def mod(node: OnnxNode) -> Value:
    """By either rule for the sign."""
    return node.add(operation("mod")(fmod=node.attributes.flag("fmod")), node.input(0), node.input(1))


@binds("BitShift", since=11)
def bit_shift(node: OnnxNode) -> Value:
    """Left or right."""
    direction = node.attributes.choice("direction", "", ("LEFT", "RIGHT"))
    return node.add(operation("bit_shift")(direction=direction.lower()), node.input(0), node.input(1))


@binds("Pow")
def pow_(node: OnnxNode) -> Value:
    """Types of base and exponent may differ."""
    return node.add(operation("pow")(), node.input(0), node.input(1))


@binds("PRelu")
def prelu(node: OnnxNode) -> Value:
    """The slope broadcasts to the data, not the other way round."""
    x, slope = node.input(0), node.input(1)
    if slope.type.rank > x.type.rank:
        raise ModelError("the slope does not broadcast to the data", expected=str(x.type), found=str(slope.type))
    return node.add(operation("prelu")(), x, slope)


@binds("Where", since=9)
def where(node: OnnxNode) -> Value:
    """Condition, then, else."""
    return node.add(operation("where")(), *(node.input(index) for index in range(3)))


@binds("CastLike", since=15)
def cast_like(node: OnnxNode) -> Value:
    """To the type of the second input."""
    node.attributes.ignore("saturate", "round_mode")
    return node.add(operation("cast")(dtype=node.input(1).type.dtype), node.input(0))


@binds("Cast")
def cast(node: OnnxNode) -> Value:
    """To the type of the attribute."""
    node.attributes.ignore("saturate", "round_mode")
    code = node.attributes.integer("to")
    if code is None:
        raise ModelError("attribute to is missing")
    return node.add(operation("cast")(dtype=element_type(code)), node.input(0))


def _fold(node: OnnxNode, name: str) -> Value:
    first, *others = node.inputs()
    result = node.add(operation("identity")(), first) if not others else first
    for other in others:
        result = node.add(operation(name)(), result, other)
    return result


for _op_type, _name in {"Max": "max", "Min": "min", "Sum": "add"}.items():
    binds(_op_type)(partial(_fold, name=_name))


@binds("Mean")
def mean(node: OnnxNode) -> Value:
    """The sum divided by the number of inputs."""
    total = _fold(node, "add")
    return node.add(operation("div")(), total, node.array(node.input_count, total))


@binds("Clip")
def clip_by_attributes(node: OnnxNode) -> Value:
    """Limits are attributes."""
    limits = {key: node.attributes.real(key, None) for key in ("min", "max")}
    return node.add(operation("clip")(**limits), node.input(0))


@binds("Clip", since=11)
def clip(node: OnnxNode) -> Value:
    """Limits are inputs; those that are constant become attributes."""
    x = node.input(0)
    limits, others = {}, []
    for index, key in ((1, "min"), (2, "max")):
        limit = node.optional(index)
        if limit is not None and limit.constant is not None:
            limits[key] = _plain(node.scalar(index, f"the limit {key}"))
        elif limit is not None:
            others.append((operation("max" if key == "min" else "min"), limit))
    if limits or not others:
        x = node.add(operation("clip")(**limits), x)
    for op, limit in others:
        x = node.add(op(), x, limit)
    return x


def _plain(number: float) -> float:
    """A float32 as its shortest decimal, an int as itself."""
    return float(str(np.float32(number))) if isinstance(number, float) and np.isfinite(number) else number
