"""GlobalMaxPool: the maximum over all spatial axes."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._global_pool import GlobalPool
from cuvil_edge.ops.reduce_max import ReduceMax


@dataclass(frozen=True)
class GlobalMaxPool(GlobalPool):
    """The maximum over all spatial axes of each channel."""

    reduction = ReduceMax
