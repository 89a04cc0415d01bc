"""``compile``: from a model to an artifact, in six stages, each timed and reported."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import cuvil_edge
from cuvil_edge.artifact.manifest import Manifest, ModelInfo
from cuvil_edge.artifact.writer import write_artifact
from cuvil_edge.board.board import load_board
from cuvil_edge.codegen.build import Builder
from cuvil_edge.codegen.describe import describe_plan
from cuvil_edge.codegen.emit import emit_model
from cuvil_edge.codegen.planner import Program, plan_program
from cuvil_edge.codegen.reference import ReferenceData, make_reference
from cuvil_edge.config import Config
from cuvil_edge.errors import UsageError
from cuvil_edge.frontends.onnx import ImportedModel, import_onnx
from cuvil_edge.passes.base import PassLog
from cuvil_edge.passes.pipeline import LOWER, SIMPLIFY, run_passes
from cuvil_edge.target.target import Target, host_target

if TYPE_CHECKING:
    from onnx import ModelProto

    from cuvil_edge.frontends.onnx.symbols import DimRange

    ModelSource = str | os.PathLike[str] | bytes | ModelProto
    DimRanges = Mapping[str, DimRange] | None

Progress = Callable[[str, int, int], None]
"""Called with the stage's name, parts done and parts in all (0 where not known)."""

_EMPTY_WEIGHTS_BYTES = 64
PRECISIONS = ("f32",)


@dataclass
class StageReport:
    """What one stage took, changed and refused."""

    name: str
    duration_ns: int = 0
    changes: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)


@dataclass
class Artifact:
    """A compiled model in memory. ``stages`` say what the compiler did and why."""

    manifest: Manifest
    members: Mapping[str, bytes]
    stages: list[StageReport]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the ``.cuvil`` file, whole or not at all; raises DiskFullError or ArtifactError."""
        self.manifest = write_artifact(path, self.manifest, self.members)
        return Path(path)


def resolve_target(target: str | Target | None, board: str | None, isa: str | None) -> Target:
    """The target that the arguments of ``compile`` name; the machine itself by default.

    Raises:
        UsageError: both a target and a board.
        ConfigError: an unknown board or instruction set, with the nearest names.
    """
    if isinstance(target, Target):
        return target
    if target is not None and board is not None:
        raise UsageError("both a target and a board are given", hint="give one of them")
    name = board or target or "host"
    return host_target(isa) if name == "host" else load_board(name).target(isa)


def compile(
    model: str | os.PathLike[str] | bytes | ModelProto,
    *,
    target: str | Target | None = None,
    board: str | None = None,
    isa: str | None = None,
    precision: str = "f32",
    dims: Mapping[str, int | tuple[int, ...]] | None = None,
    compiler: str = "zig",
    config: Config | None = None,
    progress: Progress | None = None,
) -> Artifact:
    """Compile a model for one target.

    Args:
        model: path, bytes or ``onnx.ModelProto``.
        target: ``"host"``, the name of a board, or a Target.
        board: the name of a board; the same as ``target``.
        isa: an instruction set below the CPU's best, for comparison.
        precision: ``"f32"``.
        dims: fixes or bounds symbolic dimensions: ``{"N": 4}`` or ``{"height": (32, 1024, 32)}`` (min, max, multiple).
        compiler: ``"zig"``, ``"gcc"`` or ``"clang"``.
        config: folders and limits; from the environment by default.
        progress: told of the stages as they go.

    Raises:
        ModelError, UnsupportedError, ShapeError: what is wrong with the model, all of it.
        CompileError, DiskFullError: generated code could not be built.
        ConfigError, UsageError: an unknown target, board, instruction set or precision.
    """
    if precision not in PRECISIONS:
        raise UsageError("unknown precision", thing=precision, expected=", ".join(PRECISIONS))
    return _Compilation(resolve_target(target, board, isa), config or Config.from_environment(), progress).run(
        model, dims, compiler
    )


def plan_model(
    model: str | os.PathLike[str] | bytes | ModelProto,
    target: Target,
    dims: Mapping[str, int | tuple[int, ...]] | None = None,
) -> tuple[ImportedModel, Program]:
    """Everything up to code generation, without a compiler: what ``check`` shows."""
    compilation = _Compilation(target, Config.from_environment({}), None)
    imported = compilation.import_model(model, dims)
    return imported, compilation.plan(imported)


class _Compilation:
    """One run of the stages."""

    def __init__(self, target: Target, config: Config, progress: Progress | None) -> None:
        self.target = target
        self.config = config
        self.progress = progress or (lambda stage, done, total: None)
        self.stages: list[StageReport] = []

    @contextmanager
    def _stage(self, name: str) -> Iterator[StageReport]:
        report = StageReport(name)
        self.stages.append(report)
        self.progress(name, 0, 0)
        start = time.perf_counter_ns()
        with np.errstate(all="ignore"):  # a model may compute with infinities and divide by zero
            yield report
        report.duration_ns = time.perf_counter_ns() - start

    def run(self, model: ModelSource, dims: DimRanges, compiler: str) -> Artifact:
        """All stages."""
        builder = Builder(self.target, self.config, compiler, lambda done, total: self.progress("build", done, total))
        imported = self.import_model(model, dims)
        with self._stage("reference") as report:
            reference = make_reference(imported.graph)
            report.changes.append(f"symbols {reference.symbols}" if reference.symbols else "static shapes")
        return self._build(imported, self.plan(imported), builder, reference)

    def import_model(self, model: ModelSource, dims: DimRanges) -> ImportedModel:
        """Stages import and check."""
        with self._stage("import") as report:
            imported = import_onnx(model, dims=dims)
            report.changes.append(f"{len(imported.graph.nodes)} nodes, opset {imported.opset}")
        return imported

    def plan(self, imported: ImportedModel) -> Program:
        """Stages simplify, lower and plan."""
        with self._stage("simplify") as report:
            _note(report, run_passes(imported.graph, SIMPLIFY))
        with self._stage("lower") as report:
            _note(report, run_passes(imported.graph, LOWER))
        with self._stage("plan") as report:
            program = plan_program(imported.graph, self.target)
            report.changes.append(f"{len(program.plan.steps)} steps, {len(program.kernels)} kernels")
            report.refusals += program.refusals
        return program

    def _build(self, imported: ImportedModel, program: Program, builder: Builder, reference: ReferenceData) -> Artifact:
        weights = program.weights.to_bytes() or bytes(_EMPTY_WEIGHTS_BYTES)
        text = emit_model(program.plan, self.target, len(weights), hashlib.sha256(weights).hexdigest())
        with self._stage("build") as report:
            sources = [
                *builder.kernel_sources((kernel.name, kernel.source) for kernel in program.kernels.values()),
                builder.model_source(f"model_{imported.name}", text),
            ]
            objects = builder.objects(sources)
            report.changes.append(f"{len(objects)} objects")
        with self._stage("link") as report:
            library, executable = builder.link_library(objects), builder.link_program(objects)
            builder.cache.trim()
            report.changes.append(f"library {len(library)} bytes, program {len(executable)} bytes")
        model = ModelInfo(imported.name, imported.sha256, "onnx")
        manifest, members = describe_plan(
            program.plan, self.target, model, cuvil_edge.__version__, len(weights), reference
        )
        members |= {manifest.library_name: library, manifest.program_name: executable, "weights.bin": weights}
        return Artifact(manifest, members, self.stages)


def _note(report: StageReport, logs: Sequence[PassLog]) -> None:
    for log in logs:
        report.changes += [f"{log.name}: {what} x{count}" for what, count in log.changes.items()]
        report.refusals += [f"{log.name}: {refusal}" for refusal in log.refusals]
