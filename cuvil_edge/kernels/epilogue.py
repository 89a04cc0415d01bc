"""Epilogues of kernels with their own loops: the C++ that rides in the store (``csrc/kernels/epilogue.h``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuvil_edge.ir.dim import Extent, Shape, product
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.scalar import Arg, ScalarExpr, call, dtypes_in, operation_count, substitute
from cuvil_edge.kernels.expression import render_body
from cuvil_edge.kernels.kernel import Operand

_LONG_OPERATIONS = 12
"""Function applications beyond which the chain is not unrolled over a tile; one exponential alone is as long."""
_LONG_FUNCTIONS = ("exp", "log", "tanh", "sigmoid", "erf", "pow", "sin", "cos", "softplus")


@dataclass(frozen=True)
class Epilogue:
    """Source of the struct ``Epilogue``, and what the call passes for it."""

    source: str
    operands: tuple[Operand, ...]
    extents: tuple[Extent, ...]


def refuse_epilogue(tree: ScalarExpr | None) -> str | None:
    """Why an expression cannot be an epilogue, or None."""
    if tree is None or dtypes_in(tree) <= {DType.F32, DType.BOOL}:
        return None
    return "the epilogue computes in other types than f32"


def add_bias(tree: ScalarExpr | None, bias: Value, values: Sequence[Value]) -> tuple[ScalarExpr, list[Value]]:
    """The epilogue for results that lack their bias, which is computed while running, and its operands."""
    start = call("add", Arg(0, DType.F32), Arg(1, DType.F32))
    later = [Arg(index + 2, DType.F32) for index in range(len(values))]
    return start if tree is None else substitute(tree, [start, *later]), [bias, *values]


def make_epilogue(
    tree: ScalarExpr | None, values: Sequence[Value], output: Shape, *, one_column: bool = False
) -> Epilogue:
    """The epilogue ``tree`` over ``values``, which broadcast to results of shape ``output``.

    The last axis of ``output`` is the columns; with ``one_column`` there is no such axis, all of them are rows.
    """
    if tree is None:
        return Epilogue("using Epilogue = cuvil::kernels::NoEpilogue;", (), ())
    modes, extents = [], []
    columns = (1,) if one_column else ()
    for value in values:
        mode, own = _mode((*value.type.shape, *columns), (*output, *columns))
        modes.append(f"{{cuvil::kernels::Rows::{mode[0]}, cuvil::kernels::Columns::{mode[1]}}}")
        extents += own
    statements, result = render_body(tree, ["x", *(f"e[{index}]" for index in range(len(values)))])
    body = "\n    ".join([*statements, f"return {result};"])
    modes = modes or ["{cuvil::kernels::Rows::kOne, cuvil::kernels::Columns::kOne}"]
    source = f"""struct Epilogue {{
  static constexpr int kOperands = {len(values)};
  static constexpr cuvil::kernels::OperandMode kModes[] = {{{", ".join(modes)}}};
  static constexpr bool kLong = {str(_is_long(tree)).lower()};
  template <class V>
  static CUVIL_INLINE V apply(V x, [[maybe_unused]] const V* e) {{
    {body}
  }}
}};"""
    return Epilogue(source, tuple(Operand(value) for value in values), tuple(extents))


def _is_long(tree: ScalarExpr) -> bool:
    return operation_count(tree) > _LONG_OPERATIONS or any(f"'{name}'" in repr(tree) for name in _LONG_FUNCTIONS)


def _mode(shape: Shape, output: Shape) -> tuple[tuple[str, str], list[Extent]]:
    """How an operand is found for a row and a column of the output, and the extents that say so."""
    full = (1,) * (len(output) - len(shape)) + tuple(shape)
    columns = "kOne" if full[-1] == 1 else "kEach"
    width, leading, target = full[-1], full[:-1], output[:-1]
    if all(extent == 1 for extent in leading):
        return ("kOne", columns), []
    if leading == target:
        return ("kEach", columns), [width]
    if leading[0] == target[0] and all(extent == 1 for extent in leading[1:]):
        return ("kImage", columns), [product(target[1:]), width]
    strides: list[Extent] = []
    step: Extent = width
    for extent in reversed(leading):
        strides.insert(0, 0 if extent == 1 else step)
        step = step * extent
    pairs = [part for pair in zip(target, strides, strict=True) for part in pair]
    return ("kMapped", columns), [len(target), *pairs]
