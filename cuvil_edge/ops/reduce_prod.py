"""ReduceProd: product over axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ops._inputs import accumulator
from cuvil_edge.ops._reduce import Reduce


@dataclass(frozen=True)
class ReduceProd(Reduce):
    """The product; integers wrap; 1 over an empty axis."""

    shape_arithmetic = True

    def reference(self, x: np.ndarray) -> np.ndarray:
        """numpy's product, of floats in float64."""
        return np.asarray(np.prod(accumulator(x), axis=self.axes, keepdims=self.keepdims)).astype(x.dtype)
