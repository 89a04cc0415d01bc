"""``cuvil-edge compile``: from a model to an artifact."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuvil_edge.cli._arguments import add_model, add_target
from cuvil_edge.cli._base import Subcommand
from cuvil_edge.cli._model_file import compile_model, refuse_artifact
from cuvil_edge.cli._output import Output
from cuvil_edge.cli._shapes import symbols_text
from cuvil_edge.cli._table import table
from cuvil_edge.errors import UsageError
from cuvil_edge.units import format_bytes, format_ns

if TYPE_CHECKING:
    from cuvil_edge.compiler import Artifact


class Compile(Subcommand):
    """Writes the artifact whole or not at all; the same input gives the same bytes."""

    name = "compile"
    help = "compile a model for a board into one file"
    epilog = """\
examples:
  cuvil-edge compile model.onnx --board raspberry-pi-5 -o model.cuvil
  cuvil-edge compile model.onnx --dim N=1 --verbose       (for this machine; says what every stage did)
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The model, the target and the file to write."""
        add_model(parser, "an ONNX file")
        parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="default: MODEL's name with .cuvil, here")
        add_target(parser)

    def run(self, args: argparse.Namespace, output: Output) -> int:
        """Compile, save and summarise."""
        refuse_artifact(args.model, "compile it")
        path = args.output or Path(args.model.stem + ".cuvil")
        _check_writable(path)
        artifact = compile_model(args, output, args.board)
        output.progress("compile: save")
        artifact.save(path)
        size_bytes = path.stat().st_size
        output.json(_as_json(artifact, path, size_bytes))
        for line in _stage_lines(artifact):
            output.detail(line)
        output.text(_summary(artifact, path, size_bytes))
        return 0


def _check_writable(path: Path) -> None:
    """Say it before the work, not after."""
    if path.is_dir():
        raise UsageError("this is a folder", thing=str(path), expected="the name of a file to write")
    if not path.absolute().parent.is_dir():
        raise UsageError("the folder of the artifact does not exist", thing=str(path.parent), hint="make it first")


def _stage_lines(artifact: Artifact) -> list[str]:
    lines = []
    for stage in artifact.stages:
        lines.append(f"{stage.name}: {format_ns(stage.duration_ns)}")
        lines += [f"  {change}" for change in stage.changes]
        lines += [f"  not done: {refusal}" for refusal in stage.refusals]
    return lines


def _summary(artifact: Artifact, path: Path, size_bytes: int) -> str:
    manifest = artifact.manifest
    target, arena = manifest.target, manifest.memory.arena
    library, program = (manifest.members[n].bytes for n in (manifest.library_name, manifest.program_name))
    total_ns = sum(stage.duration_ns for stage in artifact.stages)
    rows = [
        ("target", f"{target.name} ({target.isa}, cpu {target.cpu})"),
        ("steps", f"{len(manifest.steps)}, with {len({step.kernel for step in manifest.steps})} kernels"),
        (
            "size",
            f"weights {format_bytes(manifest.memory.weights_bytes)}, library {format_bytes(library)}, "
            f"program {format_bytes(program)}",
        ),
    ]
    if arena is not None:
        at = f" at {symbols_text(arena.symbols)}" if arena.symbols else ""
        bound = format_bytes(arena.lower_bound_bytes)
        rows.append(("arena", f"{format_bytes(arena.planned_bytes)}{at} (no plan needs less than {bound})"))
    rows.append(("took", format_ns(total_ns)))
    return f"{path}: {manifest.model.name}, {format_bytes(size_bytes)}\n" + table(rows)


def _as_json(artifact: Artifact, path: Path, size_bytes: int) -> dict[str, Any]:
    manifest = artifact.manifest.to_json()
    return {
        "file": str(path),
        "bytes": size_bytes,
        "sha256": artifact.manifest.sha256(),
        "stages": [
            {
                "name": stage.name,
                "duration_ns": stage.duration_ns,
                "changes": stage.changes,
                "refusals": stage.refusals,
            }
            for stage in artifact.stages
        ],
        **{key: manifest[key] for key in ("model", "target", "symbols", "inputs", "outputs", "memory")},
    }
