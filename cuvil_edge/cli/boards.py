"""``cuvil-edge boards``: what can be compiled for."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from cuvil_edge.cli._arguments import cpus_text
from cuvil_edge.cli._base import Subcommand
from cuvil_edge.cli._output import Output
from cuvil_edge.cli._table import table
from cuvil_edge.units import format_bytes, format_count, format_hz

if TYPE_CHECKING:
    from cuvil_edge.board.board import Board


class Boards(Subcommand):
    """All boards in a table, or everything about one of them."""

    name = "boards"
    help = "list the boards that models can be compiled for"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """An optional board."""
        parser.add_argument("board", metavar="BOARD", nargs="?", help="show everything about this one")

    def run(self, args: argparse.Namespace, output: Output) -> int:
        """Print them."""
        from cuvil_edge.board.board import board_names, load_board

        if args.board is not None:
            board = load_board(args.board)
            output.json({"board": _as_json(board)})
            output.text(_describe(board))
            return 0
        boards = [load_board(name) for name in board_names()]
        output.json({"boards": [_as_json(board) for board in boards]})
        rows = [("BOARD", "TITLE", "ISA", "CORES", "MEMORY")]
        for board in boards:
            memory = format_bytes(board.memory_bytes) if board.memory_bytes else "-"
            rows.append((board.name, board.title, board.isa, _cores_text(board), memory))
        output.text(table(rows, indent=""))
        return 0


def _cores_text(board: Board) -> str:
    kinds: dict[str, int] = {}
    for cluster in board.clusters:
        kind = cluster.cpu + (f" {format_hz(cluster.max_hz)}" if cluster.max_hz else "")
        kinds[kind] = kinds.get(kind, 0) + len(cluster.cpus)
    return " + ".join(f"{number} x {kind}" for kind, number in kinds.items())


def _describe(board: Board) -> str:
    target, limits = board.target(), board.limits()
    rows = [("compiled for", f"{target.instruction_set.title} ({target.isa}), cpu {target.cpu}")]
    for cluster in board.clusters:
        caches = [f"L1d {format_bytes(cluster.l1d_bytes)}", f"L2 {format_bytes(cluster.l2_bytes)}"]
        caches += [f"L3 {format_bytes(cluster.l3_bytes)}"] if cluster.l3_bytes else []
        clock = f" at {format_hz(cluster.max_hz)}" if cluster.max_hz else ""
        rows.append((f"CPUs {cpus_text(cluster.cpus)}", f"{cluster.cpu}{clock}, {', '.join(caches)}"))
    if board.memory_bytes:
        rows.append(("memory", format_bytes(board.memory_bytes)))
    if limits.memory_bytes_per_second:
        rows.append(("bandwidth", format_count(limits.memory_bytes_per_second, "B/s")))
    if limits.peak_flops_per_second:
        cores = target.cores
        rows.append(
            ("peak", f"{format_count(limits.peak_flops_per_second, 'FLOP/s')} (f32, the {cores} fastest cores)")
        )
    if board.system is not None:
        rows.append(
            ("system", f"{board.system.name}, kernel {board.system.kernel}, glibc {board.system.glibc} or newer")
        )
    rows.append(("needs", " ".join(target.required_features)))
    title = board.title + (f" ({board.soc})" if board.soc else "")
    return f"{board.name}: {title}\n" + table(rows)


def _as_json(board: Board) -> dict[str, Any]:
    limits = board.limits()
    return {
        "name": board.name,
        "title": board.title,
        "soc": board.soc,
        "arch": board.arch,
        "isa": board.isa,
        "clusters": [
            {"cpu": cluster.cpu, "cpus": list(cluster.cpus), "max_hz": cluster.max_hz} for cluster in board.clusters
        ],
        "memory_bytes": board.memory_bytes,
        "memory_bytes_per_second": limits.memory_bytes_per_second,
        "peak_flops_per_second": limits.peak_flops_per_second,
        "required_features": list(board.target().required_features),
    }
