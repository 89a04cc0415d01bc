"""Identity: the input itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import required


@dataclass(frozen=True)
class Identity(Op):
    """The input, unchanged."""

    is_view = True
    shape_arithmetic = True

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The input's type."""
        return [required(inputs, 0).type]

    def reference(self, x: np.ndarray) -> np.ndarray:
        """The input itself."""
        return x

    def transposed(self, permutation: tuple[int, ...]) -> Op | None:
        """The order of axes does not matter."""
        return self

    @classmethod
    def samples(cls) -> list[Sample]:
        """Some ranks, and no elements."""
        return [
            Sample(cls(), (np.arange(15, dtype=np.float32).reshape(3, 5),)),
            Sample(cls(), (np.array(3),), name="scalar"),
            Sample(cls(), (np.zeros((2, 0), np.float32),), name="empty"),
        ]
