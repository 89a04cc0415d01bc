"""The order of the passes: the one list in the house, because an order is a decision.

Folding comes first, so that later passes see constants as constants. Scales and shifts fold into weights while channels
are still axis 1. The layout is chosen before element-wise fusion, so that transposes can move through plain operations;
chains fuse before epilogues, so that ``x * sigmoid(x)`` reads the convolution's result once.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from cuvil_edge.ir.graph import Graph
from cuvil_edge.ir.verify import verify
from cuvil_edge.passes.base import Pass, PassLog
from cuvil_edge.passes.decompose import Decompose
from cuvil_edge.passes.fold_constants import FoldConstants
from cuvil_edge.passes.fusions.fold_add_into_matmul import FoldAddIntoMatmul
from cuvil_edge.passes.fusions.fold_scale_shift_into_conv import FoldScaleShiftIntoConv
from cuvil_edge.passes.fusions.fold_transpose_into_matmul import FoldTransposeIntoMatmul
from cuvil_edge.passes.fusions.fuse_elementwise_chains import FuseElementwiseChains
from cuvil_edge.passes.fusions.fuse_elementwise_into_producer import FuseElementwiseIntoProducer
from cuvil_edge.passes.materialise_extents import MaterialiseExtents
from cuvil_edge.passes.merge_equal_nodes import MergeEqualNodes
from cuvil_edge.passes.move_transposes import MoveTransposes
from cuvil_edge.passes.separate_outputs import SeparateOutputs
from cuvil_edge.passes.use_channels_last import UseChannelsLast

SIMPLIFY: tuple[type[Pass], ...] = (
    FoldConstants,
    Decompose,
    FoldConstants,
    MergeEqualNodes,
    FoldScaleShiftIntoConv,
)
LOWER: tuple[type[Pass], ...] = (
    UseChannelsLast,
    MoveTransposes,
    FoldTransposeIntoMatmul,
    FoldConstants,
    FoldAddIntoMatmul,
    FuseElementwiseChains,
    FuseElementwiseIntoProducer,
    MergeEqualNodes,
    MaterialiseExtents,
    SeparateOutputs,
)


def run_passes(graph: Graph, passes: Sequence[type[Pass]]) -> list[PassLog]:
    """Apply ``passes`` in order and verify the graph after each; returns what each did and refused."""
    logs = []
    for pass_class in passes:
        log = PassLog(_word(pass_class.__module__))
        start = time.perf_counter_ns()
        pass_class().apply(graph, log)
        log.duration_ns = time.perf_counter_ns() - start
        verify(graph)
        logs.append(log)
    return logs


def _word(module: str) -> str:
    return module.rsplit(".", 1)[-1]
