"""ReduceMax: maximum over axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.content import ON_EXTENTS
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops._elementwise import NUMBERS
from cuvil_edge.ops._reduce import Reduce, maximum_of_nothing, reduce_extents


@dataclass(frozen=True)
class ReduceMax(Reduce):
    """The maximum; NaN if there is one; over an empty axis the lowest value of the type."""

    dtypes = (*NUMBERS, DType.BOOL)
    shape_arithmetic = True

    def reference(self, x: np.ndarray) -> np.ndarray:
        """numpy's maximum."""
        if x.dtype == object:
            return reduce_extents(x, ON_EXTENTS["max"], self.axes, self.keepdims)
        return np.asarray(np.max(x, axis=self.axes, keepdims=self.keepdims, initial=maximum_of_nothing(x.dtype)))
