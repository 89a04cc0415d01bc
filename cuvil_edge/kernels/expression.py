"""Scalar expressions as C++: the bodies of loops and the epilogues of convolutions and matrix products.

The text is in terms of ``cuvil::math`` (``csrc/simd/math.h``), one set of names for vectors and numbers. Where
``is_vector_expression`` holds, the text is generic: it expects a type ``V`` in scope, ``simd::F32`` or ``float``, of
which every f32 operand is (bool operands are then masks or bools). Otherwise operands are plain values
(``cuvil::kernels::Value<T>`` in ``csrc/kernels/element.h``, which must be included for its ``cast``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.scalar import Arg, Call, Literal, ScalarExpr

ELEMENT_TYPES = {
    DType.F32: "float",
    DType.F16: "cuvil::kernels::F16",
    DType.BF16: "cuvil::kernels::BF16",
    DType.F64: "double",
    DType.I8: "int8_t",
    DType.U8: "uint8_t",
    DType.I16: "int16_t",
    DType.U16: "uint16_t",
    DType.I32: "int32_t",
    DType.U32: "uint32_t",
    DType.I64: "int64_t",
    DType.U64: "uint64_t",
    DType.BOOL: "cuvil::kernels::Bool",
}
"""C++ types of elements in memory."""

_VALUE_TYPES = ELEMENT_TYPES | {DType.F16: "float", DType.BF16: "float", DType.BOOL: "bool"}
_RENAMED = {
    "fmod": "remainder",
    "round": "round_even",
    "and": "logical_and",
    "or": "logical_or",
    "xor": "logical_xor",
    "not": "logical_not",
    "isnan": "is_nan",
    "isinf": "is_inf",
}
_ON_BOOLS = {
    "add": "logical_or",
    "max": "logical_or",
    "mul": "logical_and",
    "min": "logical_and",
    "ne": "logical_xor",
    "bit_and": "logical_and",
    "bit_or": "logical_or",
    "bit_xor": "logical_xor",
    "bit_not": "logical_not",
}
_TRUTH = frozenset({"and", "or", "xor", "not"})


def is_vector_expression(expression: ScalarExpr) -> bool:
    """True if the expression can be evaluated on vectors: all its parts are f32 or bool, and some part is f32."""
    found = _part_dtypes(expression)
    return DType.F32 in found and found <= {DType.F32, DType.BOOL}


def render_expression(expression: ScalarExpr, names: Sequence[str]) -> str:
    """The expression as one C++ expression; ``names[i]`` is the text of ``Arg(i)``. Repeats what occurs twice."""
    return _Renderer(names, is_vector_expression(expression), share=False).render(expression)


def render_body(expression: ScalarExpr, names: Sequence[str]) -> tuple[list[str], str]:
    """The expression as statements (``const auto t0 = ...;``), each computed once, and the text of its result."""
    renderer = _Renderer(names, is_vector_expression(expression), share=True)
    result = renderer.render(expression)
    return renderer.statements, result


def _part_dtypes(expression: ScalarExpr) -> set[DType]:
    found: set[DType] = set()
    seen: set[int] = set()
    pending = [expression]
    while pending:
        part = pending.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        found.add(part.dtype)
        if isinstance(part, Call):
            pending += part.args
    return found


class _Renderer:
    """Renders one expression; parts that are one object or have one text are rendered once."""

    def __init__(self, names: Sequence[str], vector: bool, share: bool) -> None:
        self.names = names
        self.vector = vector
        self.share = share
        self.statements: list[str] = []
        self._by_id: dict[int, str] = {}
        self._by_text: dict[str, str] = {}

    def render(self, expression: ScalarExpr) -> str:
        """The text of an expression; may add statements."""
        if isinstance(expression, Arg):
            return self.names[expression.index]
        if isinstance(expression, Literal):
            return self.literal(expression)
        if id(expression) not in self._by_id:
            self._by_id[id(expression)] = self.keep(self.call(expression))
        return self._by_id[id(expression)]

    def keep(self, text: str) -> str:
        """A short text for the value of ``text``."""
        if not self.share or text in self.names:
            return text
        if text not in self._by_text:
            name = f"t{len(self._by_text)}"
            self.statements.append(f"const auto {name} = {text};")
            self._by_text[text] = name
        return self._by_text[text]

    def literal(self, literal: Literal) -> str:
        """A number as its C++ value."""
        value, dtype = literal.value, literal.dtype
        if dtype is DType.BOOL:
            if not self.vector:
                return "true" if value else "false"
            zero = f"{_MATH}constant<V>(0)"
            return f"{_MATH}{'eq' if value else 'ne'}({zero}, {zero})"
        if not dtype.is_float:
            return _integer_literal(int(value), dtype)
        rounded = float(np.asarray(value).astype(dtype.numpy))
        type_ = "V" if self.vector else _VALUE_TYPES[dtype]
        return f"{_MATH}constant<{type_}>({_float_text(rounded)})"

    def call(self, call: Call) -> str:
        """The application of one function."""
        if call.function == "cast":
            return self.cast(call)
        if call.function in ("min", "max") and (bounded := self.bounded(call)):
            return bounded
        args = [self.render(arg) for arg in call.args]
        if call.function in _TRUTH:
            args = [self.truth(arg, text) for arg, text in zip(call.args, args, strict=True)]
        if call.function == "select":
            args[0] = self.truth(call.args[0], args[0])
        operand_dtype = call.args[-1].dtype
        if operand_dtype is DType.BOOL and call.function not in _TRUTH:
            return self.on_bools(call.function, args)
        return f"{_MATH}{_RENAMED.get(call.function, call.function)}({', '.join(args)})"

    def truth(self, expression: ScalarExpr, text: str) -> str:
        """A value as a bool."""
        if expression.dtype is DType.BOOL:
            return text
        return f"{_MATH}ne({text}, {self.literal(Literal(0, expression.dtype))})"

    def on_bools(self, function: str, args: list[str]) -> str:
        """Functions of truth values in terms of the logical ones, which masks have too."""
        if function == "eq":
            return f"{_MATH}logical_not({_MATH}logical_xor({', '.join(args)}))"
        if function == "select":
            chosen, condition = args[1:], args[0]
            if not self.vector:
                return f"{_MATH}select({', '.join(args)})"
            other = f"{_MATH}logical_and({_MATH}logical_not({condition}), {chosen[1]})"
            return f"{_MATH}logical_or({_MATH}logical_and({condition}, {chosen[0]}), {other})"
        if function in ("lt", "gt"):
            low, high = args if function == "lt" else args[::-1]
            return f"{_MATH}logical_and({_MATH}logical_not({low}), {high})"
        if function in ("le", "ge"):
            low, high = args if function == "le" else args[::-1]
            return f"{_MATH}logical_or({_MATH}logical_not({low}), {high})"
        if function in ("abs", "sign"):
            return args[0]
        return f"{_MATH}{_ON_BOOLS[function]}({', '.join(args)})"

    def bounded(self, call: Call) -> str | None:
        """``min`` or ``max`` with constants in fewer instructions: they need not look for NaN in a constant."""
        inner, bound = _with_constant(call)
        if bound is None or inner is None:
            return None
        low, high = (bound, None) if call.function == "max" else (None, bound)
        if isinstance(inner, Call) and {call.function, inner.function} == {"min", "max"}:
            nested, other = _with_constant(inner)
            if nested is not None and other is not None:
                bounds = (other, bound) if call.function == "min" else (bound, other)
                if bounds[0].value <= bounds[1].value:
                    inner, (low, high) = nested, bounds
        x = self.render(inner)
        if high is None and low is not None and low.value == 0:
            return f"{_MATH}relu({x})"
        if (low is None or high is None) and not call.dtype.is_float:
            return None
        low = low or Literal(-math.inf, call.dtype)
        high = high or Literal(math.inf, call.dtype)
        return f"{_MATH}clamp({x}, {self.literal(low)}, {self.literal(high)})"

    def cast(self, call: Call) -> str:
        """A conversion."""
        (source,) = call.args
        text = self.render(source)
        if call.dtype is DType.BOOL:
            return self.truth(source, text)
        if source.dtype is DType.BOOL:
            one, zero = (self.literal(Literal(value, call.dtype)) for value in (1, 0))
            return f"{_MATH}select({text}, {one}, {zero})"
        if source.dtype in (DType.F16, DType.BF16) and call.dtype is DType.F32:
            return text
        return f"cuvil::kernels::cast<{ELEMENT_TYPES[call.dtype]}>({text})"


_MATH = "cuvil::math::"


def _with_constant(call: Call) -> tuple[ScalarExpr | None, Literal | None]:
    """The variable and the constant operand of ``min`` or ``max``, if there is one of each."""
    left, right = call.args
    if isinstance(left, Literal):
        left, right = right, left
    if isinstance(left, Literal) or not isinstance(right, Literal) or right.dtype is DType.BOOL:
        return None, None
    return (None, None) if math.isnan(right.value) else (left, right)


def _float_text(value: float) -> str:
    if math.isnan(value):
        return '__builtin_nan("")'
    if math.isinf(value):
        return "-__builtin_inf()" if value < 0 else "__builtin_inf()"
    return repr(value)


def _integer_literal(value: int, dtype: DType) -> str:
    bits, type_ = 8 * dtype.item_bytes, _VALUE_TYPES[dtype]
    value %= 2**bits
    if dtype.value[0] == "i" and value >= 2 ** (bits - 1):
        value -= 2**bits
    if dtype is DType.U64:
        return f"{type_}{{{value}u}}"
    if value == -(2**63):
        return f"{type_}{{INT64_MIN}}"
    return f"{type_}{{{value}}}"
