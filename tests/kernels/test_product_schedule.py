"""Risks: a block is nobody's work, a block outgrows its cache, one core gets all, rows of A evict each other."""

from __future__ import annotations

import random

import pytest

from cuvil_edge.board.board import load_board
from cuvil_edge.ir.dim import Dim, Symbol, evaluate
from cuvil_edge.kernels.product_schedule import (
    FLAT_TILES,
    TILES,
    Tile,
    choose_blocks,
    choose_tile,
    dynamic_blocks,
    rows_collide,
)
from cuvil_edge.target.target import Target
from tests.kernels.harness import target_for

TARGETS = {
    "pi5": load_board("raspberry-pi-5").target(),
    "zero2": load_board("raspberry-pi-zero-2-w").target(),
    "n100": load_board("intel-n100").target(),
    "scalar": target_for("scalar"),
    "avx512": target_for("x86_64_avx512"),
}
targets = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
N = Symbol("N", min=0, max=100_000)


def panels_of(columns: int, tile: Tile, target: Target) -> int:
    return -(-columns // (tile.vectors * target.instruction_set.f32_lanes))


@targets
def test_the_blocks_cover_all_rows_and_panels_and_nothing_twice(target: Target) -> None:
    source = random.Random(7)
    for _ in range(400):
        rows, depth, columns = (source.choice([1, 2, 7, 16, 64, 300, 1000, 3136, 50_000]) for _ in range(3))
        tile = choose_tile(target)
        blocks = choose_blocks(rows, depth, columns, tile, target)
        panels = panels_of(columns, tile, target)
        assert isinstance(blocks.rows, int)
        assert blocks.rows >= 1
        assert 1 <= blocks.panels <= panels
        assert blocks.items == -(-rows // blocks.rows) * -(-panels // blocks.panels)
        assert blocks.rows >= rows or blocks.rows % tile.rows == 0, "only the last block may end within a tile"


@targets
def test_a_symbolic_number_of_rows_gives_the_same_cover(target: Target) -> None:
    tile = choose_tile(target)
    for depth, columns in ((27, 32), (512, 512), (2048, 10), (3, 1000)):
        blocks = choose_blocks(Dim.of(N), depth, columns, tile, target)
        groups = -(-panels_of(columns, tile, target) // blocks.panels)
        for rows in (0, 1, 5, 100, 3136, 100_000):
            block_rows, items = evaluate(blocks.rows, {"N": rows}), evaluate(blocks.items, {"N": rows})
            assert block_rows > 0
            assert items == -(-rows // block_rows) * groups


@targets
def test_large_problems_give_every_core_work_and_small_ones_one(target: Target) -> None:
    tile = choose_tile(target)
    assert choose_blocks(3136, 512, 512, tile, target).items >= target.cores
    assert choose_blocks(8, 512, 256, tile, target).items >= target.cores, "few rows: the columns are split"
    assert choose_blocks(10, 64, 64, tile, target).items == 1
    assert choose_blocks(0, 64, 64, tile, target).items == 0


@targets
def test_a_block_of_each_side_stays_in_the_second_cache(target: Target) -> None:
    tile, lanes = choose_tile(target), target.instruction_set.f32_lanes
    for rows, depth, columns in ((12544, 576, 64), (3136, 1152, 256), (784, 2304, 512), (784, 4608, 512)):
        blocks = choose_blocks(rows, depth, columns, tile, target)
        assert blocks.panels == 1 or blocks.panels * tile.vectors * lanes * depth * 4 <= target.l2_bytes // 2
        assert isinstance(blocks.rows, int)
        assert blocks.rows <= 2 * tile.rows or blocks.rows * depth * 4 <= target.l2_bytes // 4


def test_products_of_run_time_matrices_are_covered() -> None:
    tile = Tile(6, 2)
    for rows, columns in ((1, 1), (7, 33), (224, 64), (225, 65), (5000, 1000)):
        block_rows, block_panels, items = dynamic_blocks(rows, columns, tile, 8)
        panels = -(-columns // 16)
        assert items == -(-rows // block_rows) * -(-panels // block_panels)
        assert block_rows >= min(rows, tile.rows)
        assert items <= 4 * -(-rows // 224), "each item packs its panels again"
    assert dynamic_blocks(0, 10, tile, 8)[2] == 0
    assert dynamic_blocks(10, 0, tile, 8)[2] == 0
    rows, panels, items = dynamic_blocks(Dim.of(N), Dim.of(N), tile, 8)
    for n in (0, 1, 100, 1000):
        at = {"N": n}
        all_panels = -(-n // 16)
        assert evaluate(items, at) == -(-n // evaluate(rows, at)) * -(-all_panels // evaluate(panels, at))


@targets
def test_accumulators_leave_registers_for_the_operands(target: Target) -> None:
    isa = target.instruction_set
    for tile in (TILES[isa.f32_lanes, isa.vector_registers], FLAT_TILES.get((isa.f32_lanes, isa.vector_registers))):
        if tile is not None:
            assert tile.rows * tile.vectors + tile.vectors <= isa.vector_registers


def test_strides_of_large_powers_of_two_collide() -> None:
    n100, pi5 = TARGETS["n100"], TARGETS["pi5"]
    eight = Tile(8, 2)
    assert rows_collide(4 * 4096, eight, pi5)
    assert rows_collide(4 * 2048 * 3, eight, pi5)
    assert not rows_collide(4 * 4096 + 64, eight, pi5)
    assert not rows_collide(4 * 96, eight, pi5)
    assert rows_collide(4 * 4096, Tile(14, 2), n100)
    assert not rows_collide(4 * 4096, Tile(2, 2), n100)


def test_a_stride_that_is_not_known_is_not_feared() -> None:
    assert not rows_collide(0, Tile(8, 2), TARGETS["pi5"])
    assert not rows_collide(Dim.of(N) * 4096, Tile(8, 2), TARGETS["pi5"])


def test_collisions_are_answered_by_a_flatter_tile_only_if_that_helps() -> None:
    pi5 = TARGETS["pi5"]
    usual, flat = TILES[4, 32], FLAT_TILES[4, 32]
    chosen = {stride: choose_tile(pi5, stride) for stride in range(64, 1 << 17, 64)}
    assert set(chosen.values()) == {usual, flat}
    for stride, tile in chosen.items():
        helps = rows_collide(stride, usual, pi5) and not rows_collide(stride, flat, pi5)
        assert tile == (flat if helps else usual), stride
