"""Schedules of convolutions and matrix products: the register tile and the blocks of one work item.

Data in, data out: a cost model from the target's registers and caches, replaceable by measured values.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from cuvil_edge.ir.dim import Extent, bounds, ceildiv, maximum, minimum
from cuvil_edge.target.target import Target

_SMALL_FLOPS = 1 << 20
"""Less than this is one work item: starting a second thread costs as much."""
_MAX_BLOCK_ROWS = 448
_SPLITS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_POINTER_CYCLES = 2
_TILE_CYCLES = 40
_ITEM_CYCLES = 400
_FAR_BYTES_PER_CYCLE = 16
"""Measured on Zen 5: to place a pointer, around a tile's loop, around an item, and from beyond the second cache."""
_FEW_ROWS = 196
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
    (16, 32): Tile(7, 3),
    (8, 16): Tile(4, 3),
    (4, 32): Tile(4, 4),
}
"""Fewer rows and more columns: they read more of B for each multiply-add, but their rows collide later."""
_FLAT_COST = {(16, 32): 0.99, (8, 16): 1.04, (4, 32): 1.05}
"""Of the same multiply-adds with the flat tile (measured; 4 lanes: estimated from loads)."""
_DEEP = 256
"""From this depth on B comes from the second cache, and reading it more often counts."""


@dataclass(frozen=True)
class Blocks:
    """Rows and panels of one work item, and how many items there are."""

    rows: Extent
    panels: int
    items: Extent


def choose_tile(target: Target, row_stride_bytes: Extent = 0, columns: int = 0, depth: int = 0) -> Tile:
    """The tile for the target's registers.

    The flatter one if the rows of A would evict each other from the first cache and it helps, or if its panels divide
    ``columns`` with less waste.
    """
    isa = target.instruction_set
    key = (isa.f32_lanes, isa.vector_registers)
    tile, flat = TILES.get(key) or Tile(4, 2), FLAT_TILES.get(key)
    if flat is None:
        return tile
    if rows_collide(row_stride_bytes, tile, target):
        return tile if rows_collide(row_stride_bytes, flat, target) else flat
    vectors = -(-columns // isa.f32_lanes)
    factor = max(_FLAT_COST[key], 1.01) if depth >= _DEEP else _FLAT_COST[key]
    return flat if vectors and factor * _row_cost(vectors, flat) < _row_cost(vectors, tile) else tile


def _row_cost(vectors: int, tile: Tile) -> float:
    """Cycles of a row for each k: a panel's multiply-adds, or its loads where it has few columns."""
    panels, rest = divmod(vectors, tile.vectors)
    last = max(tile.rows * rest, tile.rows + rest) if rest else 0
    return (panels * tile.rows * tile.vectors + last) / tile.rows


def choose_blocks(
    rows: Extent,
    depth: int,
    columns: int,
    tile: Tile,
    target: Target,
    row_bytes: int | None = None,
    pointers: int = 1,
) -> Blocks:
    """The blocks with the least estimated time on one core and on all.

    Args:
        rows, depth, columns: of the product.
        tile: the register tile.
        target: its caches and cores count.
        row_bytes: what a row of A adds to the block that must stay near; a row's whole depth by default.
        pointers: to a row of A, which are placed anew for each item.
    """
    panels = max(1, -(-columns // (tile.vectors * target.instruction_set.f32_lanes)))
    if isinstance(rows, int) and 2 * rows * depth * columns <= _SMALL_FLOPS:
        return Blocks(max(1, rows), panels, 1 if rows and columns else 0)
    problem = _BlockProblem(_likely_rows(rows), depth, panels, 4 * depth if row_bytes is None else row_bytes, pointers)
    tiles, block_panels = problem.best(tile, target)
    block_rows = tiles * tile.rows
    return Blocks(block_rows, block_panels, ceildiv(rows, block_rows) * -(-panels // block_panels))


def _likely_rows(rows: Extent) -> tuple[int, ...]:
    """Numbers of rows to be ready for: the one, or the smallest and some larger ones."""
    if isinstance(rows, int):
        return (max(1, rows),)
    low = max(1, bounds(rows)[0])
    return tuple(sorted({low, max(low, _FEW_ROWS), max(4 * low, 4 * _FEW_ROWS)}))


def _even(count: int, most: int) -> int:
    """The size of equal parts of ``count``, none larger than ``most``."""
    return -(-count // -(-count // max(1, most)))


@dataclass(frozen=True)
class _BlockProblem:
    """What the choice of blocks depends on besides the tile and the target."""

    rows: tuple[int, ...]
    depth: int
    panels: int
    row_bytes: int
    pointers: int

    def best(self, tile: Tile, target: Target) -> tuple[int, int]:
        """Tiles and panels of one item."""
        most_tiles = -(-self.rows[-1] // tile.rows)
        limit = min(_MAX_BLOCK_ROWS, target.l2_bytes // 4 // max(1, self.row_bytes)) // tile.rows
        tiles = {_even(most_tiles, min(max(limit, 2), -(-most_tiles // split))) for split in _SPLITS}
        panel_bytes = 4 * self.depth * tile.vectors * target.instruction_set.f32_lanes
        fitting = max(1, target.l2_bytes // 2 // max(1, panel_bytes))
        panels = {_even(self.panels, min(fitting, -(-self.panels // split))) for split in _SPLITS}
        choices = sorted((t, p) for t in tiles for p in panels)
        return min(choices, key=lambda choice: (self._time(choice[0], choice[1], tile, target), -choice[0] * choice[1]))

    def _time(self, tiles: int, panels: int, tile: Tile, target: Target) -> float:
        """Cycles for each tile of results, summed over numbers of rows and of threads."""
        groups = -(-self.panels // panels)
        total = 0.0
        for rows in self.rows:
            all_tiles = -(-rows // tile.rows)
            work = all_tiles * self.panels
            items = -(-all_tiles // tiles) * groups
            far = groups * rows * self.row_bytes if rows * self.row_bytes > target.l2_bytes // 2 else 0
            cycles = work * (tile.rows * tile.vectors * self.depth / 2 + _TILE_CYCLES) + items * _ITEM_CYCLES
            cycles += groups * rows * self.pointers * _POINTER_CYCLES + far / _FAR_BYTES_PER_CYCLE
            total += sum(-(-items // threads) * threads * cycles / items for threads in {1, 2, target.cores}) / work
        return total


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
