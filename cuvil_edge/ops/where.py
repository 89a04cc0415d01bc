"""Where: element-wise choice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Sample
from cuvil_edge.ops._elementwise import Elementwise


@dataclass(frozen=True)
class Where(Elementwise):
    """``b`` where the bool ``a`` is True, else ``c``; all three broadcast."""

    scalar = "select(a, b, c)"
    shape_arithmetic = True

    def check_dtypes(self, dtypes: list[DType]) -> None:
        """The condition is bool, the other two are of one type."""
        if dtypes[0] is not DType.BOOL:
            raise ShapeError("the condition has a wrong element type", expected="bool", found=dtypes[0].value)
        super().check_dtypes(dtypes[1:])

    @classmethod
    def samples(cls) -> list[Sample]:
        """Each operand as the one that is broadcast."""
        random = np.random.default_rng(4)
        condition = random.integers(0, 2, (3, 5, 7)).astype(bool)
        x, y = (random.standard_normal((3, 5, 7)).astype(np.float32) for _ in range(2))
        return [
            Sample(cls(), (condition, x, y), name="f32"),
            Sample(cls(), (condition[:, :1], x[0], np.array(0, np.float32)), name="broadcast"),
            Sample(cls(), (np.array(True), x, y[:, :, :1]), name="scalar_condition"),
            Sample(cls(), (condition, np.array(1), random.integers(-9, 9, (7,))), name="i64"),
            Sample(cls(), (condition, condition[:1], condition[:, :, :1]), name="bool"),
        ]
