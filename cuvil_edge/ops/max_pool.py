"""MaxPool: the largest element of each window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Sample
from cuvil_edge.ops._inputs import sample_array
from cuvil_edge.ops._pool import Pool
from cuvil_edge.ops._window import channels_first, pad_spatial, restore_layout, windows


@dataclass(frozen=True)
class MaxPool(Pool):
    """The maximum over the data in each window; a window without data gives the lowest value of the type."""

    def reference(self, x: np.ndarray) -> np.ndarray:
        """The maximum over the positions of the kernel; padding is the lowest value."""
        x = channels_first(x, self.channels_last)
        out = self.out_extents(x.shape[2:])
        lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        padded = pad_spatial(x, self.pads_for(x.shape[2:], out), lowest)
        y = np.full((*x.shape[:2], *out), lowest, x.dtype)
        for _, part in windows(padded, self.kernel, self.strides, self.dilations, out):
            y = np.maximum(y, part)
        return restore_layout(y, self.channels_last)

    @classmethod
    def samples(cls) -> list[Sample]:
        """The geometries of all pools, and integers."""
        integers = sample_array((1, 3, 6, 7), dtype=DType.I8)
        return [*cls.geometry_samples(), Sample(cls((2, 2), (2, 2), (1, 1, 1, 1), (1, 1)), (integers,), name="i8")]
