"""Constants that scale or shift whole output channels."""

from __future__ import annotations

import numpy as np

from cuvil_edge.ir.graph import Value


def channel_vector(value: Value, channels: int, rank: int, axis: int) -> np.ndarray | None:
    """The float constant ``value`` as a vector of ``channels`` if it varies along ``axis`` only, else None."""
    if value.constant is None or not value.type.dtype.is_float or value.type.rank > rank:
        return None
    shape = (1,) * (rank - value.type.rank) + value.constant.shape
    if any(extent != 1 for index, extent in enumerate(shape) if index != axis) or shape[axis] not in (1, channels):
        return None
    return np.broadcast_to(value.constant.reshape(-1), (channels,)).astype(np.float64)
