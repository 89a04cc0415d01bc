"""Arithmetic on object arrays of extents: what shape computations in a model become.

A comparison is answered where the ranges of the symbols decide it; otherwise TypeError, and the content is unknown.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cuvil_edge.ir.dim import Extent, bounds, floordiv, maximum, minimum


def is_less(left: Extent, right: Extent) -> bool:
    """``left < right`` for every value of the symbols; TypeError if that depends on them."""
    low, high = bounds(left - right)
    if high < 0 or low >= 0:
        return high < 0
    raise TypeError(f"whether {left} < {right} depends on the symbols")


def is_equal(left: Extent, right: Extent) -> bool:
    """``left == right`` for every value of the symbols; TypeError if that depends on them."""
    low, high = bounds(left - right)
    if low == high == 0 or low > 0 or high < 0:
        return low == high == 0
    raise TypeError(f"whether {left} == {right} depends on the symbols")


def divide(left: Extent, right: Extent) -> Extent:
    """Division that truncates toward zero (ONNX Div on integers); TypeError if a sign depends on the symbols."""
    if is_equal(right, 0):
        raise ZeroDivisionError(f"{left} / {right}")
    if is_less(right, 0):
        left, right = -left, -right
    return -floordiv(-left, right) if is_less(left, 0) else floordiv(left, right)


def modulo(left: Extent, right: Extent) -> Extent:
    """The remainder with the sign of the divisor (ONNX Mod on integers)."""
    if is_equal(right, 0):
        raise ZeroDivisionError(f"{left} % {right}")
    return left - floordiv(left, right) * right


def _power(base: Extent, exponent: Extent) -> Extent:
    if not isinstance(exponent, int) or not 0 <= exponent <= 64:
        raise TypeError(f"{base} ** {exponent} is not an extent")
    result: Extent = 1
    for _ in range(exponent):
        result = result * base
    return result


def _absolute(extent: Extent) -> Extent:
    return maximum(extent, -extent)


def _truth(extent: Extent) -> bool:
    return not is_equal(extent, 0)


def _pairs(function: Callable[[Extent, Extent], object]) -> Callable[..., np.ndarray]:
    return np.frompyfunc(function, 2, 1)


to_bool: Callable[..., np.ndarray] = np.frompyfunc(_truth, 1, 1)
"""Each element compared with zero."""

ON_EXTENTS: dict[str, Callable[..., np.ndarray]] = {
    "add": _pairs(lambda a, b: a + b),
    "sub": _pairs(lambda a, b: a - b),
    "mul": _pairs(lambda a, b: a * b),
    "div": _pairs(divide),
    "mod": _pairs(modulo),
    "pow": _pairs(_power),
    "min": _pairs(minimum),
    "max": _pairs(maximum),
    "neg": np.frompyfunc(lambda a: -a, 1, 1),
    "abs": np.frompyfunc(_absolute, 1, 1),
    "lt": _pairs(is_less),
    "le": _pairs(lambda a, b: not is_less(b, a)),
    "gt": _pairs(lambda a, b: is_less(b, a)),
    "ge": _pairs(lambda a, b: not is_less(a, b)),
    "eq": _pairs(is_equal),
    "ne": _pairs(lambda a, b: not is_equal(a, b)),
    "and": _pairs(lambda a, b: _truth(a) and _truth(b)),
    "or": _pairs(lambda a, b: _truth(a) or _truth(b)),
    "xor": _pairs(lambda a, b: _truth(a) != _truth(b)),
    "not": np.frompyfunc(lambda a: not _truth(a), 1, 1),
    "select": np.frompyfunc(lambda c, a, b: a if _truth(c) else b, 3, 1),
}
"""The scalar vocabulary of ``ir.scalar`` where it makes sense for extents."""
