"""Sliding windows: extents, and the slices that the references of convolutions and pools are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import Extent, ceildiv, floordiv, minimum
from cuvil_edge.ir.op import Op


@dataclass(frozen=True)
class SpatialOp(Op):
    """An operation on images.

    Attributes:
        channels_last: they are [N, *spatial, C], not [N, C, *spatial].
    """

    channels_last: bool = field(default=False, kw_only=True)


def check_window(
    rank: int, kernel: Sequence[Extent], strides: Sequence[int], pads: Sequence[Extent], dilations: Sequence[int]
) -> None:
    """ShapeError unless the attributes have one entry for each of ``rank`` spatial axes (pads two) and are positive."""
    counts: dict[str, tuple[Sequence[Extent], int]] = {
        "kernel": (kernel, rank),
        "strides": (strides, rank),
        "pads": (pads, 2 * rank),
        "dilations": (dilations, rank),
    }
    for name, (entries, count) in counts.items():
        if len(entries) != count:
            raise ShapeError(f"{name} has a wrong number of entries", expected=str(count), found=str(len(entries)))
        lowest = 0 if name == "pads" else 1
        if any(isinstance(entry, int) and entry < lowest for entry in entries):
            raise ShapeError(f"{name} has an entry below {lowest}", found=str(list(entries)))


def window_extents(
    spatial: Sequence[Extent],
    kernel: Sequence[Extent],
    strides: Sequence[int],
    pads: Sequence[Extent],
    dilations: Sequence[int],
    checks: Checks,
    ceil_mode: bool = False,
) -> list[Extent]:
    """Output extents ``(padded - (dilation * (kernel - 1) + 1)) / stride + 1``, rounded down, or up with ``ceil_mode``.

    Rounded up, a window must still start inside the data or the padding before it.
    """
    rank = len(spatial)
    result: list[Extent] = []
    for axis, extent in enumerate(spatial):
        begin, end, stride = pads[axis], pads[rank + axis], strides[axis]
        reach = dilations[axis] * (kernel[axis] - 1) + 1
        span = extent + begin + end - reach
        checks.at_least(span, 0, f"the window of spatial axis {axis} (extent {reach}) is larger than the padded data")
        if ceil_mode:
            result.append(minimum(ceildiv(span, stride) + 1, ceildiv(extent + begin, stride)))
        else:
            result.append(floordiv(span, stride) + 1)
    return result


def pad_spatial(x: np.ndarray, pads: Sequence[int], value: float) -> np.ndarray:
    """``x`` [N, C, *spatial] with constant pads (begins then ends) around its spatial axes."""
    rank = x.ndim - 2
    return np.pad(x, [(0, 0), (0, 0), *zip(pads[:rank], pads[rank:], strict=True)], constant_values=value)


def windows(
    x: np.ndarray, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int], out: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Each position in the kernel, with the elements of padded ``x`` there for all windows: [N, C, *out]."""
    for position in product(*map(range, kernel)):
        starts = [p * d for p, d in zip(position, dilations, strict=True)]
        slices = [slice(a, a + (n - 1) * s + 1, s) for a, n, s in zip(starts, out, strides, strict=True)]
        yield position, x[(slice(None), slice(None), *slices)]


def channels_first(x: np.ndarray, channels_last: bool) -> np.ndarray:
    """``x`` as [N, C, *spatial]."""
    return np.moveaxis(x, -1, 1) if channels_last else x


def restore_layout(y: np.ndarray, channels_last: bool) -> np.ndarray:
    """``y`` [N, C, *spatial] in the operation's layout."""
    return np.ascontiguousarray(np.moveaxis(y, 1, -1) if channels_last else y)


def split_layout(shape: Sequence[Extent], channels_last: bool) -> tuple[Extent, Extent, tuple[Extent, ...]]:
    """Batch, channels and spatial extents of a shape."""
    if channels_last:
        return shape[0], shape[-1], tuple(shape[1:-1])
    return shape[0], shape[1], tuple(shape[2:])


def join_layout(batch: Extent, channels: Extent, spatial: Sequence[Extent], channels_last: bool) -> tuple[Extent, ...]:
    """The shape of batch, channels and spatial extents."""
    return (batch, *spatial, channels) if channels_last else (batch, channels, *spatial)
