"""Resize and Upsample: sizes and scales of several opsets become one form."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite

from cuvil_edge.errors import ModelError, UnsupportedError
from cuvil_edge.frontends.onnx.binding import binds
from cuvil_edge.frontends.onnx.node import OnnxNode, normal_axes
from cuvil_edge.ir.dim import Dim, Extent, floordiv
from cuvil_edge.ir.graph import Value
from cuvil_edge.ops._resampling import COORDINATES, NEAREST
from cuvil_edge.ops.resize import MODES, Resize

_OLD_MODES = {"nearest": "nearest", "linear": "linear", "bilinear": "linear"}


@binds("Upsample", since=7)
def upsample(node: OnnxNode) -> Value:
    """The predecessor of Resize: scales are an attribute, then (opset 9) an input; positions are ``i / scale``."""
    if node.version < 9:
        scales = node.attributes.reals("scales", ())
    else:
        scales = [float(scale) for scale in node.constant(1, "the scales").reshape(-1)]
    return _resize_without_offset(node, scales)


@binds("Resize", since=10)
def resize_10(node: OnnxNode) -> Value:
    """Opset 10: scales only; positions are ``i / scale``."""
    return _resize_without_offset(node, [float(scale) for scale in node.constant(1, "the scales").reshape(-1)])


def _resize_without_offset(node: OnnxNode, scales: Sequence[float]) -> Value:
    x = node.input(0)
    mode = _OLD_MODES[node.attributes.choice("mode", "nearest", tuple(_OLD_MODES))]
    shape = _scaled_shape(x, range(x.type.rank), scales)
    rounding = "ceil" if any(scale < 1 for scale in scales) else "floor"
    return node.add(Resize(shape, tuple(scales), mode, "asymmetric", rounding), x)


@binds("Resize", since=11)
def resize(node: OnnxNode) -> Value:
    """Scales or sizes, of all axes or some; every rule for positions."""
    x, read = node.input(0), node.attributes
    axes = normal_axes(read.integers("axes", range(x.type.rank)), x.type.rank)
    coordinates = read.choice("coordinate_transformation_mode", "half_pixel", tuple(COORDINATES))
    policy = read.choice("keep_aspect_ratio_policy", "stretch", ("stretch", "not_larger", "not_smaller"))
    shape, scales = _sizes(node, x, axes, policy)
    op = Resize(
        shape,
        scales,
        read.choice("mode", "nearest", MODES),
        coordinates,
        read.choice("nearest_mode", "round_prefer_floor", tuple(NEAREST)),
        read.real("cubic_coeff_a", -0.75),
        read.flag("exclude_outside"),
        read.flag("antialias"),
        read.real("extrapolation_value", 0.0),
        _region(node, x, axes) if coordinates == "tf_crop_and_resize" else (),
    )
    return node.add(op, x)


def _sizes(
    node: OnnxNode, x: Value, axes: Sequence[int], policy: str
) -> tuple[tuple[Extent, ...], tuple[float | None, ...]]:
    """The output shape, and the scales that coordinates use."""
    scales_given = node.optional(2) is not None and node.input(2).type.elements != 0
    sizes_given = node.optional(3) is not None and node.input(3).type.elements != 0
    if scales_given == sizes_given:
        raise ModelError("either scales or sizes are needed")
    if scales_given:
        scales = [float(scale) for scale in node.constant(2, "the scales").reshape(-1)]
        shape = _scaled_shape(x, axes, scales)
        return shape, _on_axes(x, axes, scales, 1.0)
    sizes = node.extents(3, "the sizes")
    if len(sizes) != len(axes):
        raise ModelError("sizes do not fit the axes", expected=str(len(axes)), found=str(sizes))
    if policy != "stretch":
        return _fitted(x, axes, sizes, policy)
    chosen = dict(zip(axes, sizes, strict=True))
    shape = tuple(chosen.get(axis, extent) for axis, extent in enumerate(x.type.shape))
    return shape, (None,) * x.type.rank


def _scaled_shape(x: Value, axes: Sequence[int], scales: Sequence[float]) -> tuple[Extent, ...]:
    """``floor(extent * scale)`` exactly, for symbolic extents too."""
    if len(scales) != len(axes) or any(not isfinite(scale) or scale <= 0 for scale in scales):
        raise ModelError("scales are not valid", expected=f"{len(axes)} positive numbers", found=str(list(scales)))
    shape = list(x.type.shape)
    for axis, scale in zip(axes, scales, strict=True):
        exact = Fraction(scale)
        shape[axis] = floordiv(shape[axis] * exact.numerator, exact.denominator)
    return tuple(shape)


def _on_axes(x: Value, axes: Sequence[int], numbers: Sequence[float], default: float) -> tuple[float, ...]:
    full = [default] * x.type.rank
    for axis, number in zip(axes, numbers, strict=True):
        full[axis] = number
    return tuple(full)


def _fitted(
    x: Value, axes: Sequence[int], sizes: Sequence[Extent], policy: str
) -> tuple[tuple[Extent, ...], tuple[float | None, ...]]:
    """One scale for all axes, so that no size is exceeded (or none undercut); extents are rounded."""
    extents = [x.type.shape[axis] for axis in axes]
    if any(isinstance(extent, Dim) for extent in (*extents, *sizes)) or 0 in extents:
        raise UnsupportedError("keep_aspect_ratio_policy needs fixed extents", found=str(x.type))
    ratios = [size / extent for size, extent in zip(sizes, extents, strict=True)]  # type: ignore[operator]
    scale = min(ratios) if policy == "not_larger" else max(ratios)
    shape = list(x.type.shape)
    for axis in axes:
        shape[axis] = int(shape[axis] * scale + 0.5)  # type: ignore[operator]
    return tuple(shape), _on_axes(x, axes, [scale] * len(axes), 1.0)


def _region(node: OnnxNode, x: Value, axes: Sequence[int]) -> tuple[float, ...]:
    roi = [float(number) for number in node.constant(1, "the region").reshape(-1)]
    if len(roi) != 2 * len(axes):
        raise ModelError("the region does not fit the axes", expected=f"{2 * len(axes)} numbers", found=str(roi))
    half = len(axes)
    return (*_on_axes(x, axes, roi[:half], 0.0), *_on_axes(x, axes, roi[half:], 1.0))
