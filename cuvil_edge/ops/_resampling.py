"""Where the elements of a resized axis come from: coordinates and weights of ONNX's Resize, one axis at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Coordinate = Callable[["Axis", np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Axis:
    """One axis: extents before and after, the scale that coordinates use, and its part of the region of interest."""

    source: int
    target: int
    scale: float
    roi_start: float = 0.0
    roi_end: float = 1.0


def _half_pixel(axis: Axis, i: np.ndarray) -> np.ndarray:
    return (i + 0.5) / axis.scale - 0.5


def _half_pixel_symmetric(axis: Axis, i: np.ndarray) -> np.ndarray:
    adjustment = axis.target / (axis.scale * axis.source)
    return axis.source / 2 * (1 - adjustment) + (i + 0.5) / axis.scale - 0.5


def _pytorch_half_pixel(axis: Axis, i: np.ndarray) -> np.ndarray:
    return (i + 0.5) / axis.scale - 0.5 if axis.target > 1 else np.zeros_like(i)


def _align_corners(axis: Axis, i: np.ndarray) -> np.ndarray:
    return i * (axis.source - 1) / (axis.target - 1) if axis.target > 1 else np.zeros_like(i)


def _asymmetric(axis: Axis, i: np.ndarray) -> np.ndarray:
    return i / axis.scale


def _tf_half_pixel_for_nn(axis: Axis, i: np.ndarray) -> np.ndarray:
    return (i + 0.5) / axis.scale


def _tf_crop_and_resize(axis: Axis, i: np.ndarray) -> np.ndarray:
    last = axis.source - 1
    if axis.target > 1:
        return axis.roi_start * last + i * (axis.roi_end - axis.roi_start) * last / (axis.target - 1)
    return 0.5 * (axis.roi_start + axis.roi_end) * last + np.zeros_like(i)


COORDINATES: dict[str, Coordinate] = {
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _half_pixel_symmetric,
    "pytorch_half_pixel": _pytorch_half_pixel,
    "align_corners": _align_corners,
    "asymmetric": _asymmetric,
    "tf_half_pixel_for_nn": _tf_half_pixel_for_nn,
    "tf_crop_and_resize": _tf_crop_and_resize,
}
"""Position in the source of target element ``i`` (ONNX attribute ``coordinate_transformation_mode``)."""

NEAREST: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}
"""Rounding of positions (ONNX attribute ``nearest_mode``)."""


def linear_kernel(distance: np.ndarray) -> np.ndarray:
    """Weight of a source element at a distance: a triangle."""
    return np.asarray(np.maximum(0.0, 1.0 - np.abs(distance)))


def cubic_kernel(distance: np.ndarray, a: float) -> np.ndarray:
    """Weight of a source element at a distance: Keys' cubic convolution with parameter ``a``."""
    x = np.abs(distance)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.asarray(np.where(x <= 1, near, np.where(x < 2, far, 0.0)))


def nearest_weights(axis: Axis, positions: np.ndarray, rounding: str) -> np.ndarray:
    """[target, source] matrix with a single 1 in each row."""
    index = np.clip(NEAREST[rounding](positions), 0, axis.source - 1).astype(np.int64)
    weights = np.zeros((axis.target, axis.source))
    weights[np.arange(axis.target), index] = 1.0
    return weights


def interpolation_weights(
    axis: Axis,
    positions: np.ndarray,
    kernel: Callable[[np.ndarray], np.ndarray],
    radius: int,
    exclude_outside: bool,
    antialias: bool,
) -> np.ndarray:
    """[target, source] matrix of a kernel that reaches ``radius`` to each side.

    With ``antialias`` a kernel that shrinks the axis is stretched by the inverse scale and its weights sum to 1.
    Elements beyond the border have the value of the border, or (``exclude_outside``) no weight, the others more.
    """
    stretch = min(axis.scale, 1.0) if antialias else 1.0
    reach = int(np.ceil(radius / stretch)) + 1
    base = np.floor(positions).astype(np.int64)
    weights = np.zeros((axis.target, axis.source))
    for offset in range(-reach, reach + 1):
        index = base + offset
        part = kernel((index - positions) * stretch)
        inside = (index >= 0) & (index < axis.source)
        if exclude_outside:
            part = np.where(inside, part, 0.0)
        np.add.at(weights, (np.arange(axis.target), np.clip(index, 0, axis.source - 1)), part)
    if exclude_outside or antialias:
        weights = weights / weights.sum(axis=1, keepdims=True)
    return weights
