"""Scalar expressions: what an element-wise operation does to one element.

An operation states its expression as text, such as ``"max(a, 0)"``; here it becomes a typed tree that can be composed
(fusion), evaluated by numpy (reference) and rendered as C++ (code generation).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cuvil_edge.ir.content import ON_EXTENTS, to_bool
from cuvil_edge.ir.dtype import DType


@dataclass(frozen=True)
class Arg:
    """The element of operand ``index``."""

    index: int
    dtype: DType


@dataclass(frozen=True)
class Literal:
    """A number."""

    value: float | int | bool
    dtype: DType


@dataclass(frozen=True)
class Call:
    """A function of the vocabulary applied to expressions."""

    function: str
    args: tuple[ScalarExpr, ...]
    dtype: DType


ScalarExpr = Arg | Literal | Call


def _erf(x: np.ndarray) -> np.ndarray:
    from math import erf

    return np.asarray(np.vectorize(erf, otypes=[np.float64])(x)).astype(np.asarray(x).dtype)


def _integer_quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Division as the element type defines it: integers truncate toward zero (ONNX Div)."""
    if np.asarray(a).dtype.kind == "f":
        return np.asarray(np.true_divide(a, b))
    quotient = np.abs(a) // np.abs(b)
    return np.asarray(quotient * np.sign(a) * np.sign(b)).astype(np.asarray(a).dtype)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    tail = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1 / (1 + tail), tail / (1 + tail))).astype(np.asarray(x).dtype)


ARITHMETIC: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": _integer_quotient,
    "mod": np.mod,
    "fmod": np.fmod,
    "pow": np.power,
    "min": np.minimum,
    "max": np.maximum,
    "neg": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "tanh": np.tanh,
    "sigmoid": _sigmoid,
    "erf": _erf,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "select": np.where,
    "bit_and": np.bitwise_and,
    "bit_or": np.bitwise_or,
    "bit_xor": np.bitwise_xor,
    "bit_not": np.bitwise_not,
    "shift_left": np.left_shift,
    "shift_right": np.right_shift,
}
"""Functions whose result has the operands' element type (``select``: that of the last two)."""

PREDICATES: dict[str, Callable[..., np.ndarray]] = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
    "not": np.logical_not,
    "isnan": np.isnan,
    "isinf": np.isinf,
}
"""Functions whose result is bool."""

_BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Mod: "mod", ast.Pow: "pow"}
_COMPARE = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
PARAMETERS = "abcdefgh"


def parse(text: str, dtypes: Sequence[DType], attributes: Mapping[str, float | int]) -> ScalarExpr:
    """The tree of ``text`` for operands ``a, b, c...`` of the given element types.

    Names that are not operands are attributes; ``cast_<dtype>(x)`` converts. A number takes the type of what it meets.
    """
    return _Parser(dtypes, attributes).convert(ast.parse(text, mode="eval").body)


class _Parser:
    def __init__(self, dtypes: Sequence[DType], attributes: Mapping[str, float | int]) -> None:
        self.dtypes = dtypes
        self.attributes = attributes

    def convert(self, node: ast.expr) -> ScalarExpr:
        if isinstance(node, ast.Name) and node.id in PARAMETERS[: len(self.dtypes)]:
            index = PARAMETERS.index(node.id)
            return Arg(index, self.dtypes[index])
        if isinstance(node, ast.Name):
            return self.literal(self.attributes[node.id])
        if isinstance(node, ast.Constant) and isinstance(node.value, float | int):
            return self.literal(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            operand = self.convert(node.operand)
            return replace(operand, value=-operand.value) if isinstance(operand, Literal) else call("neg", operand)
        if isinstance(node, ast.BinOp):
            return call(_BINARY[type(node.op)], self.convert(node.left), self.convert(node.right))
        if isinstance(node, ast.Compare):
            return call(_COMPARE[type(node.ops[0])], self.convert(node.left), self.convert(node.comparators[0]))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self.function(node.func.id, [self.convert(argument) for argument in node.args])
        raise ValueError(f"not a scalar expression: {ast.unparse(node)}")

    def function(self, name: str, args: list[ScalarExpr]) -> ScalarExpr:
        if name.startswith("cast_"):
            return cast(args[0], DType(name.removeprefix("cast_")))
        return call(name.rstrip("_"), *args)

    def literal(self, value: float | int | bool) -> Literal:
        return Literal(value, next((dtype for dtype in self.dtypes if dtype is not DType.BOOL), DType.F32))


def call(function: str, *args: ScalarExpr) -> Call:
    """``function`` applied to ``args``; literals take the element type of the other operands."""
    valued = args[1:] if function == "select" else args
    typed = next((arg.dtype for arg in valued if not isinstance(arg, Literal)), valued[0].dtype)
    args = tuple(replace(arg, dtype=typed) if isinstance(arg, Literal) and arg in valued else arg for arg in args)
    if function not in ARITHMETIC and function not in PREDICATES:
        raise ValueError(f"unknown scalar function {function!r}")
    return Call(function, args, DType.BOOL if function in PREDICATES else typed)


def cast(expression: ScalarExpr, dtype: DType) -> ScalarExpr:
    """``expression`` converted to ``dtype`` (floats to integers truncate; anything to bool compares with zero)."""
    return expression if expression.dtype is dtype else Call("cast", (expression,), dtype)


def substitute(expression: ScalarExpr, args: Sequence[ScalarExpr]) -> ScalarExpr:
    """``expression`` with operand ``i`` replaced by ``args[i]``."""
    if isinstance(expression, Arg):
        return args[expression.index]
    if isinstance(expression, Literal):
        return expression
    return replace(expression, args=tuple(substitute(arg, args) for arg in expression.args))


def operation_count(expression: ScalarExpr) -> int:
    """The number of function applications: the flops of one element."""
    if isinstance(expression, Call):
        return 1 + sum(operation_count(arg) for arg in expression.args)
    return 0


def dtypes_in(expression: ScalarExpr) -> frozenset[DType]:
    """Element types of all parts of the expression."""
    parts = expression.args if isinstance(expression, Call) else ()
    return frozenset({expression.dtype}).union(*(dtypes_in(part) for part in parts))


def evaluate(expression: ScalarExpr, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """The expression on whole arrays (numpy broadcasting), or on object arrays of extents.

    TypeError if extents have no answer: a comparison that depends on a symbol's value, a function of real numbers.
    """
    if any(np.asarray(array).dtype == object for array in arrays):
        return _evaluate_on_extents(expression, arrays)
    if isinstance(expression, Arg):
        return arrays[expression.index]
    if isinstance(expression, Literal):
        return np.asarray(expression.value, dtype=expression.dtype.numpy)
    values = [evaluate(arg, arrays) for arg in expression.args]
    if expression.function == "cast":
        return np.asarray(values[0]).astype(expression.dtype.numpy)
    if expression.function in PREDICATES:
        return np.asarray(PREDICATES[expression.function](*values))
    return np.asarray(ARITHMETIC[expression.function](*values)).astype(expression.dtype.numpy)


def _evaluate_on_extents(expression: ScalarExpr, arrays: Sequence[np.ndarray]) -> np.ndarray:
    if isinstance(expression, Arg):
        return np.asarray(arrays[expression.index], dtype=object)
    if isinstance(expression, Literal):
        return np.asarray(expression.value, dtype=object)
    values = [_evaluate_on_extents(arg, arrays) for arg in expression.args]
    if expression.function == "cast":
        return to_bool(values[0]) if expression.dtype is DType.BOOL else values[0]
    if expression.function not in ON_EXTENTS:
        raise TypeError(f"{expression.function} is not defined on extents")
    return np.asarray(ON_EXTENTS[expression.function](*values), dtype=object)
