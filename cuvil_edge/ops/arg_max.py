"""ArgMax: where the largest element is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ops._arg import ArgReduce


@dataclass(frozen=True)
class ArgMax(ArgReduce):
    """The position of the largest element along axis; NaN counts as the largest."""

    def position(self, x: np.ndarray) -> np.ndarray:
        """numpy's argmax."""
        return np.asarray(np.argmax(x, axis=self.axis))
