"""Resize: resampling of axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from cuvil_edge.errors import ShapeError, UnsupportedError
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import Shape
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Cost, Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import accumulator, require_rank, required, sample_array
from cuvil_edge.ops._resampling import (
    COORDINATES,
    NEAREST,
    Axis,
    cubic_kernel,
    interpolation_weights,
    linear_kernel,
    nearest_weights,
)
from cuvil_edge.ops._window import SpatialOp

MODES = ("nearest", "linear", "cubic")
_Size = tuple[Shape, tuple[float | None, ...]]


@dataclass(frozen=True)
class Resize(SpatialOp):
    """x resampled to ``shape``, axis by axis; axes whose extent and scale do not change are copied.

    Attributes:
        shape: extents of the output, one for each axis.
        scales: for each axis the scale that coordinates use, or None for ``output extent / input extent``.
        mode: ``nearest``, ``linear`` or ``cubic``.
        coordinates: where a target element lies in the source (``_resampling.COORDINATES``).
        rounding: of positions, for ``nearest`` (``_resampling.NEAREST``).
        cubic_coefficient: ``a`` of the cubic kernel.
        exclude_outside: elements beyond the border have no weight, instead of the border's value.
        antialias: shrinking averages over all source elements (``linear`` and ``cubic``).
        extrapolation: value of target elements outside the source, for ``tf_crop_and_resize``.
        roi: for that mode, the start of each axis and then the end of each, in [0, 1].
        channels_last: axis 0 and the last axis are copied, as in [N, *spatial, C].
    """

    shape: Shape
    scales: tuple[float | None, ...]
    mode: str = "nearest"
    coordinates: str = "half_pixel"
    rounding: str = "round_prefer_floor"
    cubic_coefficient: float = -0.75
    exclude_outside: bool = False
    antialias: bool = False
    extrapolation: float = 0.0
    roi: tuple[float, ...] = ()

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """``shape``."""
        x = required(inputs, 0)
        require_rank(x, len(self.shape), len(self.shape))
        if self.mode not in MODES or self.coordinates not in COORDINATES or self.rounding not in NEAREST:
            raise UnsupportedError("mode of resizing", found=f"{self.mode}, {self.coordinates}, {self.rounding}")
        if len(self.scales) != x.type.rank or any(scale is not None and not scale > 0 for scale in self.scales):
            raise ShapeError("scales do not fit", expected=f"{x.type.rank} positive numbers", found=str(self.scales))
        if self.coordinates == "tf_crop_and_resize" and len(self.roi) != 2 * x.type.rank:
            raise ShapeError("the region does not fit", expected=f"{2 * x.type.rank} numbers", found=str(self.roi))
        for axis, (extent, target) in enumerate(zip(x.type.shape, self.shape, strict=True)):
            if isinstance(target, int) and target < 1 and extent != 0:
                raise ShapeError(f"nothing is left of axis {axis}", found=str(list(self.shape)))
            if self.scales[axis] is None and extent != target:
                checks.at_least(extent, 1, f"axis {axis} has no elements to resize")
        return [TensorType(x.type.dtype, self.shape)]

    def reference(self, x: np.ndarray) -> np.ndarray:
        """One matrix product along each axis that changes, in float64."""
        y = accumulator(x).astype(np.float64)
        outside = np.zeros((1,) * x.ndim, bool)
        for index in range(x.ndim):
            axis = self._axis(index, x.shape[index])
            if self.is_copied(index, x.shape[index]):
                continue
            positions = COORDINATES[self.coordinates](axis, np.arange(axis.target, dtype=np.float64))
            y = np.moveaxis(np.moveaxis(y, index, -1) @ self._weights(axis, positions).T, -1, index)
            if self.coordinates == "tf_crop_and_resize":
                beyond = (positions < 0) | (positions > axis.source - 1)
                outside = outside | beyond.reshape([-1 if other == index else 1 for other in range(x.ndim)])
        y = np.where(outside, self.extrapolation, y)
        if x.dtype.kind != "f":
            limits = np.iinfo(x.dtype)
            y = np.clip(np.rint(y), limits.min, limits.max)
        return y.astype(x.dtype)

    def is_copied(self, index: int, extent: object) -> bool:
        """Whether an axis of this extent is only copied: whatever the mode, its positions are whole numbers."""
        return self.shape[index] == extent and self.scales[index] in (None, 1.0) and not self._is_cropped(index)

    def _is_cropped(self, index: int) -> bool:
        if self.coordinates != "tf_crop_and_resize":
            return self.coordinates == "tf_half_pixel_for_nn" and self.mode == "nearest" and self.rounding != "floor"
        return (self.roi[index], self.roi[len(self.shape) + index]) != (0.0, 1.0)

    def _axis(self, index: int, source: int) -> Axis:
        target, scale = self.shape[index], self.scales[index]
        assert isinstance(target, int)
        roi = (self.roi[index], self.roi[len(self.shape) + index]) if self.roi else (0.0, 1.0)
        return Axis(source, target, target / source if scale is None and source else scale or 1.0, *roi)

    def _weights(self, axis: Axis, positions: np.ndarray) -> np.ndarray:
        if self.mode == "nearest":
            return nearest_weights(axis, positions, self.rounding)
        cubic = partial(cubic_kernel, a=self.cubic_coefficient)
        kernel, radius = (linear_kernel, 1) if self.mode == "linear" else (cubic, 2)
        return interpolation_weights(axis, positions, kernel, radius, self.exclude_outside, self.antialias)

    def cost(self, inputs: Sequence[TensorType | None], outputs: Sequence[TensorType]) -> Cost:
        """Two flops for each element and source element of its kernel in a plane."""
        traffic = super().cost(inputs, outputs)
        taps = {"nearest": 0, "linear": 4, "cubic": 16}[self.mode]
        return Cost(outputs[0].elements * 2 * taps, traffic.bytes_read, traffic.bytes_written)

    def transposed(self, permutation: tuple[int, ...]) -> Op | None:
        """The attributes of the permuted axes."""
        rank = len(permutation)
        roi = tuple(self.roi[offset + axis] for offset in (0, rank) for axis in permutation) if self.roi else ()
        shape, scales = (tuple(group[axis] for axis in permutation) for group in (self.shape, self.scales))
        last = permutation == (0, *range(2, rank), 1) if not self.channels_last else permutation[-1] == rank - 1
        return replace(self, shape=shape, scales=scales, roi=roi, channels_last=last)  # type: ignore[arg-type]

    @classmethod
    def samples(cls) -> list[Sample]:
        """Every mode, coordinate rule and rounding; growing and shrinking; 1 to 3 axes; both layouts."""
        x = sample_array((2, 3, 5, 6))
        up: _Size = ((2, 3, 10, 15), (None,) * 4)
        down: _Size = ((2, 3, 3, 4), (1.0, 1.0, 0.6, 0.8))
        samples = []
        for coordinates in COORDINATES:
            roi = (0.0, 0.0, 0.1, -0.2, 1.0, 1.0, 0.8, 1.1) if coordinates == "tf_crop_and_resize" else ()
            for mode in MODES:
                for label, (shape, scales) in (("up", up), ("down", down)):
                    op = cls(shape, scales, mode, coordinates, extrapolation=7.5, roi=roi)
                    samples.append(Sample(op, (x,), name=f"{mode}_{coordinates}_{label}"))
        for rounding in NEAREST:
            op = cls(*up, "nearest", "asymmetric", rounding)
            samples.append(Sample(op, (x,), name=f"rounding_{rounding}"))
        for mode in ("linear", "cubic"):
            samples.append(Sample(cls(*down, mode, antialias=True), (x,), name=f"{mode}_antialias"))
            samples.append(Sample(cls(*down, mode, exclude_outside=True), (x,), name=f"{mode}_exclude_outside"))
        return [*samples, *cls._other_samples()]

    @classmethod
    def _other_samples(cls) -> list[Sample]:
        x = sample_array((2, 3, 5, 6))
        last = np.ascontiguousarray(np.moveaxis(x, 1, -1))
        twice = (1.0, 2.0, 2.0, 1.0)
        return [
            Sample(
                cls((2, 10, 12, 3), twice, "nearest", "asymmetric", "floor", channels_last=True),
                (last,),
                name="nearest_channels_last",
            ),
            Sample(cls((2, 10, 12, 3), twice, "linear", channels_last=True), (last,), name="linear_channels_last"),
            Sample(cls((2, 8, 9, 3), (None,) * 4, "cubic", channels_last=True), (last,), name="cubic_channels_last"),
            Sample(cls((2, 3, 11), (None,) * 3, "linear"), (sample_array((2, 3, 7)),), name="1d"),
            Sample(cls((1, 2, 4, 6, 3), (None,) * 5, "linear"), (sample_array((1, 2, 2, 3, 4)),), name="3d"),
            Sample(cls((2, 3, 1, 1), (None,) * 4, "linear", "pytorch_half_pixel"), (x,), name="to_one"),
            Sample(cls((4, 5), (None, None), "linear"), (sample_array((8, 5)),), name="leading_axis"),
            Sample(cls((1, 1, 4, 6), (None,) * 4), (sample_array((1, 1, 2, 3), dtype=DType.U8),), name="u8"),
        ]
