"""Pow: element-wise power."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Sample
from cuvil_edge.ir.scalar import Arg, ScalarExpr, call, cast
from cuvil_edge.ops._elementwise import NUMBERS, Elementwise


@dataclass(frozen=True)
class Pow(Elementwise):
    """``a ** b`` in the element type of ``a``; the exponent may be of another type.

    If one operand is a float, the power is computed in floats and converted; powers of integers wrap.
    """

    scalar = "pow(a, b)"
    dtypes = NUMBERS
    shape_arithmetic = True

    def expression(self, dtypes: Sequence[DType]) -> ScalarExpr:
        """The power, with conversions where the operands differ in type."""
        base, exponent = dtypes
        common = exponent if exponent.is_float and not base.is_float else base
        return cast(call("pow", cast(Arg(0, base), common), cast(Arg(1, exponent), common)), base)

    def check_dtypes(self, dtypes: list[DType]) -> None:
        """Each operand is a number; they may differ."""
        for dtype in dtypes:
            super().check_dtypes([dtype])

    @classmethod
    def samples(cls) -> list[Sample]:
        """Positive bases with real exponents, negative ones with whole exponents, mixed types."""
        random = np.random.default_rng(3)
        positive = random.uniform(0.1, 4, (3, 5, 7)).astype(np.float32)
        signed = random.standard_normal((3, 5, 7)).astype(np.float32)
        whole = random.integers(0, 4, (5, 1))
        return [
            Sample(cls(), (positive, random.standard_normal((7,)).astype(np.float32)), name="real"),
            Sample(cls(), (signed, np.array(2, np.float32)), name="square"),
            Sample(cls(), (signed, np.array([3, 2, -1, 0, 1, -2, 4], np.float32)), name="whole"),
            Sample(cls(), (signed, whole), name="f32_i64"),
            Sample(cls(), (random.integers(-4, 4, (5, 3)), whole), name="i64_i64"),
            Sample(cls(), (random.integers(-4, 4, (5, 3)).astype(np.int32), np.array(2, np.float32)), name="i32_f32"),
            Sample(cls(), (np.zeros((2, 0), np.float32), np.array(2, np.float32)), name="empty"),
        ]
