"""ReduceMean: mean over axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ops._reduce import Reduce


@dataclass(frozen=True)
class ReduceMean(Reduce):
    """The mean; integers truncate toward zero; NaN over an empty axis."""

    def reference(self, x: np.ndarray) -> np.ndarray:
        """numpy's mean in float64."""
        with np.errstate(all="ignore"):
            total = np.sum(x.astype(np.float64), axis=self.axes, keepdims=self.keepdims)
            count = np.prod([x.shape[axis] for axis in self.axes], dtype=np.float64)
            return np.asarray(total / count).astype(x.dtype)
