"""AveragePool: the mean of each window."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.op import Inputs, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import accumulator, ints, require_float, required
from cuvil_edge.ops._pool import Pool
from cuvil_edge.ops._window import channels_first, pad_spatial, restore_layout, windows


@dataclass(frozen=True)
class AveragePool(Pool):
    """The mean over the data in each window.

    Attributes:
        count_include_pad: padding counts as zeros. What a rounded-up last window reaches beyond it never counts.
    """

    count_include_pad: bool = False

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """As for every pool; floats only."""
        require_float(required(inputs, 0))
        return super().infer(inputs, checks)

    def reference(self, x: np.ndarray) -> np.ndarray:
        """The sum over the positions of the kernel divided by the number of elements that count."""
        x = channels_first(x, self.channels_last)
        spatial = x.shape[2:]
        out = self.out_extents(spatial)
        pads = self.pads_for(spatial, out)
        data = pad_spatial(accumulator(x), pads, 0.0)
        own = ints(self.pads) if self.count_include_pad else (0,) * len(pads)
        beyond = [whole - part for whole, part in zip(pads, own, strict=True)]
        counted = pad_spatial(pad_spatial(np.ones((1, 1, *spatial)), own, 1.0), beyond, 0.0)
        total, count = np.zeros((*x.shape[:2], *out)), np.zeros((1, 1, *out))
        for _, part in windows(data, self.kernel, self.strides, self.dilations, out):
            total += part
        for _, part in windows(counted, self.kernel, self.strides, self.dilations, out):
            count += part
        with np.errstate(invalid="ignore"):
            return restore_layout((total / count).astype(x.dtype), self.channels_last)

    @classmethod
    def samples(cls) -> list[Sample]:
        """The geometries of all pools, with padding counted and not."""
        samples = cls.geometry_samples()
        for sample in list(samples):
            if isinstance(op := sample.op, cls) and any(op.pads):
                counted = replace(op, count_include_pad=True)
                samples.append(Sample(counted, sample.inputs, name=f"{sample.name}_count_include_pad"))
        return samples
