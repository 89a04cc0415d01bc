"""``cuvil-edge profile``: where the time of a model goes, layer by layer, on this machine."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuvil_edge.cli._arguments import add_inputs, add_measurement, add_model, add_target
from cuvil_edge.cli._base import Subcommand
from cuvil_edge.cli._model_file import artifact_file
from cuvil_edge.cli._output import Output

if TYPE_CHECKING:
    from cuvil_edge.artifact.reader import ArtifactReader
    from cuvil_edge.profile.records import Profile, Verification
    from cuvil_edge.runtime.session import InferenceContext


class ProfileCommand(Subcommand):
    """Verifies the answers first, then measures. The facts of this machine are read before and after."""

    name = "profile"
    help = "measure a model layer by layer on this machine"
    epilog = """\
examples:
  cuvil-edge profile model.cuvil --runs 50 --threads 4
  cuvil-edge profile model.cuvil --shape image=8x3x224x224
  cuvil-edge profile model.onnx --run-folder before
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The model, its inputs, the measurement and where it is kept."""
        add_model(parser, "a .cuvil file, or a model to compile for this machine")
        add_measurement(parser)
        add_run_folder(parser)
        add_inputs(parser)
        add_target(parser, with_board=False)

    def run(self, args: argparse.Namespace, output: Output) -> int:
        """Measure, save, report."""
        from cuvil_edge.artifact.reader import ArtifactReader
        from cuvil_edge.cli._reports import show_run
        from cuvil_edge.cli._run_folder import check_run_folder, save_run

        check_run_folder(args.run_folder)
        with artifact_file(args, output, None) as path, ArtifactReader(path) as artifact:
            profile = measure_here(args, output, artifact, path)
            folder = save_run(profile, artifact.manifest, args.run_folder)
        show_run(profile, folder, output)
        return 0


def add_run_folder(parser: argparse.ArgumentParser) -> None:
    """Where the measurement is kept."""
    parser.add_argument(
        "--run-folder", metavar="DIR", type=Path, help="keep the measurement there; default: a new one in cuvil-runs"
    )


def measure_here(args: argparse.Namespace, output: Output, artifact: ArtifactReader, path: Path) -> Profile:
    """The profile of an artifact on this machine, with its facts and its verification.

    Raises:
        WrongAnswerError: the answers are not those of the reference case.
        CuvilError: as ``InferenceContext``.
    """
    from cuvil_edge.board.board import load_board
    from cuvil_edge.cli._inputs import gather_inputs
    from cuvil_edge.cli._verify import verify_here
    from cuvil_edge.runtime.session import InferenceContext

    inputs = gather_inputs(args, artifact, make_up=True)
    with InferenceContext(path, threads=args.threads, cpus=args.cpus) as context:
        output.progress("verify")
        verification = verify_here(context, artifact)
        facts_before = _facts(output)
        output.progress(f"measure {args.runs} runs")
        profile = _measure(context, args, inputs.arrays, verification)
    return replace(
        profile,
        board="host",
        symbols=inputs.symbols,
        facts_before=facts_before,
        facts_after=_facts(output),
        board_limits=load_board("host").limits(profile.threads),
    )


def _measure(
    context: InferenceContext, args: argparse.Namespace, arrays: tuple[Any, ...], verification: Verification | None
) -> Profile:
    profile = context.profile(
        *arrays,
        runs=args.runs,
        warmup_runs=args.warmup,
        max_duration_ns=args.max_seconds * 1_000_000_000,
        command=shlex.join(args.command_line),
    )
    return replace(profile, verification=verification)


def _facts(output: Output) -> dict[str, Any]:
    from cuvil_edge.remote.gather import gather_facts
    from cuvil_edge.remote.transports.local import LocalTransport

    output.progress("read the facts of this machine")
    with LocalTransport() as transport:
        return gather_facts(transport)
