"""Pad: a border around the data."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import Extent
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import ints, required, sample_array

MODES = ("constant", "reflect", "edge", "wrap")


@dataclass(frozen=True)
class Pad(Op):
    """x with a border.

    Attributes:
        pads: elements before each axis, then after each; not negative; may depend on symbols.
        mode: ``constant`` (``value``), ``reflect`` (mirrored, the edge itself not repeated), ``edge`` or ``wrap``.
        value: what a constant border consists of.
    """

    shape_arithmetic = True

    pads: tuple[Extent, ...]
    mode: str = "constant"
    value: float | int | bool = 0

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """Each extent and its pads; a mirrored border must be smaller than the data."""
        x = required(inputs, 0)
        rank = x.type.rank
        if len(self.pads) != 2 * rank or self.mode not in MODES:
            raise ShapeError("pads do not fit", expected=f"{2 * rank} numbers", found=f"{self.mode} {list(self.pads)}")
        shape: list[Extent] = []
        for axis, extent in enumerate(x.type.shape):
            for pad in (self.pads[axis], self.pads[rank + axis]):
                checks.at_least(pad, 0, f"a pad of axis {axis} is negative")
                if self.mode == "reflect" and pad != 0:
                    checks.at_least(extent, pad + 1, f"a mirrored border of axis {axis} is as large as the data")
                elif self.mode in ("edge", "wrap") and pad != 0:
                    checks.at_least(extent, 1, f"axis {axis} has no elements to repeat")
            shape.append(extent + self.pads[axis] + self.pads[rank + axis])
        return [TensorType(x.type.dtype, tuple(shape))]

    def reference(self, x: np.ndarray) -> np.ndarray:
        """numpy's pad."""
        pads = ints(self.pads)
        widths = list(zip(pads[: x.ndim], pads[x.ndim :], strict=True))
        if not widths:
            return x
        if self.mode == "constant":
            return np.pad(x, widths, constant_values=self.value)
        return np.pad(x, widths, self.mode)  # type: ignore[call-overload, no-any-return]

    def transposed(self, permutation: tuple[int, ...]) -> Op | None:
        """The pads of the permuted axes."""
        rank = len(permutation)
        return replace(self, pads=tuple(self.pads[offset + axis] for offset in (0, rank) for axis in permutation))

    @classmethod
    def samples(cls) -> list[Sample]:
        """Every mode; each side of each axis; no border; integers."""
        x = sample_array((3, 5, 7))
        samples = []
        for mode in MODES:
            samples.append(Sample(cls((0, 1, 2, 0, 3, 1), mode), (x,), name=f"{mode}_inner"))
            samples.append(Sample(cls((2, 0, 0, 1, 0, 0), mode), (x,), name=f"{mode}_outer"))
            samples.append(Sample(cls((0,) * 6, mode), (x,), name=f"{mode}_none"))
        samples.append(Sample(cls((1, 2, 3, 1, 0, 17), value=-1.5), (x,), name="value"))
        samples.append(Sample(cls((1, 2), value=9), (sample_array((5,), dtype=DType.I64),), name="i64"))
        return [*samples, Sample(cls((1, 2), value=True), (sample_array((5,), dtype=DType.BOOL),), name="bool")]
