"""Schedules of convolutions and matrix products: the register tile and the blocks of one work item.

Data in, data out: a cost model from the target's registers and caches, replaceable by measured values.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from cuvil_edge.ir.dim import Extent, bounds, ceildiv, maximum, minimum
from cuvil_edge.target.target import Target

_WORK_ITEMS = 64
"""Wanted for large problems: a static split over a few threads is then balanced to some percent."""
_SMALL_FLOPS = 1 << 20
"""Less than this is one work item: starting a second thread costs as much."""
_MAX_BLOCK_ROWS = 224
_MIN_TILES = 2
_X86_WAY_BYTES = 4096
"""First data caches of x86 are indexed within a page, so a way is one page."""
_ARM_WAYS = 4
"""Of Cortex-A53, A55, A76 and A78AE (Arm, Technical Reference Manuals); the A72 has 2."""


@dataclass(frozen=True)
class Tile:
    """The register tile: rows times vectors of accumulators."""

    rows: int
    vectors: int


TILES = {
    (16, 32): Tile(14, 2),
    (8, 16): Tile(6, 2),
    (4, 32): Tile(8, 2),
    (1, 16): Tile(4, 3),
}
"""By lanes and vector registers: as many accumulators as leave registers for one row's number and a row of B."""

FLAT_TILES = {
    (16, 32): Tile(7, 4),
    (4, 32): Tile(4, 4),
}
"""As many accumulators over fewer rows: they read more of B for each multiply-add."""


@dataclass(frozen=True)
class Blocks:
    """Rows and panels of one work item, and how many items there are."""

    rows: Extent
    panels: int
    items: Extent


def choose_tile(target: Target, row_stride_bytes: Extent = 0) -> Tile:
    """The tile for the target's registers; a flatter one if rows of A would evict each other from the first cache."""
    isa = target.instruction_set
    key = (isa.f32_lanes, isa.vector_registers)
    tile, flat = TILES.get(key) or Tile(4, 2), FLAT_TILES.get(key)
    if flat and rows_collide(row_stride_bytes, tile, target) and not rows_collide(row_stride_bytes, flat, target):
        return flat
    return tile


def choose_blocks(rows: Extent, depth: int, columns: int, tile: Tile, target: Target) -> Blocks:
    """Blocks such that a group of B's panels and a block of A's rows stay in the second cache."""
    lanes = target.instruction_set.f32_lanes
    panels = max(1, -(-columns // (tile.vectors * lanes)))
    panel_bytes = max(1, depth * tile.vectors * lanes * 4)
    low, _ = bounds(rows)
    if isinstance(rows, int) and 2 * rows * depth * columns <= _SMALL_FLOPS:
        return Blocks(max(1, rows), panels, 1 if rows and columns else 0)
    groups = -(-panels // max(1, min(panels, target.l2_bytes // 2 // panel_bytes)))
    if low <= tile.rows * 8:  # few rows, such as a small last image: split the columns instead
        groups = max(groups, min(panels, 16))
    block_panels = -(-panels // groups)
    groups = -(-panels // block_panels)
    limit = max(_MIN_TILES, min(_MAX_BLOCK_ROWS, target.l2_bytes // 4 // max(1, depth * 4)) // tile.rows) * tile.rows
    wanted = ceildiv(ceildiv(rows, max(1, _WORK_ITEMS // groups)), tile.rows) * tile.rows
    block_rows = maximum(minimum(wanted, limit), _MIN_TILES * tile.rows)
    return Blocks(block_rows, block_panels, ceildiv(rows, block_rows) * groups)


def dynamic_blocks(rows: Extent, columns: Extent, tile: Tile, lanes: int) -> tuple[Extent, Extent, Extent]:
    """Rows and panels of one work item, and the items of one product, where b is packed while running.

    Packing a panel costs as much as some rows of the product, so an item has as many rows as fit.
    """
    panels = ceildiv(columns, tile.vectors * lanes)
    block_rows = maximum(tile.rows, minimum(rows, _MAX_BLOCK_ROWS))
    block_panels = maximum(1, ceildiv(panels, 4))
    return block_rows, block_panels, ceildiv(rows, block_rows) * ceildiv(panels, block_panels)


def rows_collide(stride_bytes: Extent, tile: Tile, target: Target) -> bool:
    """True if a tile's rows fall on so few sets of the first cache that they evict each other."""
    if not isinstance(stride_bytes, int) or stride_bytes == 0:
        return False
    ways = _ARM_WAYS if target.arch == "aarch64" else max(4, target.l1d_bytes // _X86_WAY_BYTES)
    way_bytes = 1 << ((target.l1d_bytes // ways).bit_length() - 1)
    sets = way_bytes // gcd(stride_bytes, way_bytes)
    return tile.rows > sets * (ways - 2)
