"""GlobalAveragePool: the mean over all spatial axes."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._global_pool import GlobalPool
from cuvil_edge.ops.reduce_mean import ReduceMean


@dataclass(frozen=True)
class GlobalAveragePool(GlobalPool):
    """The mean over all spatial axes of each channel."""

    reduction = ReduceMean
