"""Cast: conversion of the element type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cuvil_edge.ir import scalar
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Sample
from cuvil_edge.ir.scalar import Arg, ScalarExpr
from cuvil_edge.ops._elementwise import Elementwise


@dataclass(frozen=True)
class Cast(Elementwise):
    """``a`` as ``dtype``: floats truncate toward zero, integers wrap, to bool compares with zero.

    A float that is not in the range of the integer type has no defined result.
    """

    scalar = "a"
    shape_arithmetic = True

    dtype: DType = field(default=DType.F32)

    def expression(self, dtypes: Sequence[DType]) -> ScalarExpr:
        """The conversion; nothing where the type is right already."""
        return scalar.cast(Arg(0, dtypes[0]), self.dtype)

    @classmethod
    def samples(cls) -> list[Sample]:
        """Between floats, integers of each width and bool."""
        random = np.random.default_rng(5)
        reals = (random.standard_normal((3, 5, 7)) * 50).astype(np.float32)
        reals[0, 0, :3] = 0, 0.3, -0.3
        whole = random.integers(-300, 300, (3, 5, 7))
        flags = random.integers(0, 2, (3, 17)).astype(bool)
        samples = [
            Sample(cls(to), (reals,), name=f"f32_{to.value}") for to in (DType.I32, DType.I64, DType.I8, DType.BOOL)
        ]
        samples += [
            Sample(cls(to), (whole,), name=f"i64_{to.value}") for to in (DType.F32, DType.I32, DType.U8, DType.BOOL)
        ]
        samples += [Sample(cls(to), (flags,), name=f"bool_{to.value}") for to in (DType.F32, DType.I64)]
        samples += [Sample(cls(to), (reals,), name=f"f32_{to.value}") for to in (DType.F16, DType.F64, DType.F32)]
        return [*samples, Sample(cls(DType.I64), (np.array(2.5, np.float32),), name="scalar")]
