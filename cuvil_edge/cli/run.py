"""``cuvil-edge run``: a model's outputs for given inputs, on this machine."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from cuvil_edge.cli._arguments import add_inputs, add_model, add_target, add_threads
from cuvil_edge.cli._base import Subcommand
from cuvil_edge.cli._model_file import artifact_file
from cuvil_edge.cli._output import Output
from cuvil_edge.cli._table import table
from cuvil_edge.units import format_ns


class Run(Subcommand):
    """Runs once. A model that is not compiled yet is compiled for this machine first."""

    name = "run"
    help = "run a model once on this machine and write its outputs"
    epilog = """\
examples:
  cuvil-edge run model.cuvil --input image=cat.npy --output out/
  cuvil-edge run model.cuvil --input batch.npz --output results.npz
  cuvil-edge run model.onnx --random
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The model, its inputs and where the outputs go."""
        add_model(parser, "a .cuvil file, or a model to compile for this machine")
        parser.add_argument(
            "-o", "--output", metavar="DIR", type=Path, help="write <output>.npy files there (or one FILE.npz)"
        )
        parser.add_argument("--random", action="store_true", help="make up all inputs that are not given")
        add_inputs(parser)
        add_threads(parser.add_argument_group("threads"))
        add_target(parser, with_board=False)

    def run(self, args: argparse.Namespace, output: Output) -> int:
        """Open, run, write, summarise."""
        from cuvil_edge.artifact.reader import ArtifactReader
        from cuvil_edge.cli._array_files import check_output_place, write_outputs
        from cuvil_edge.cli._inputs import gather_inputs
        from cuvil_edge.cli._results import summarize_array, summary_text
        from cuvil_edge.runtime.session import InferenceContext

        check_output_place(args.output)
        with artifact_file(args, output, None) as path, ArtifactReader(path) as artifact:
            inputs = gather_inputs(args, artifact, make_up=args.random)
            output.progress("run")
            with InferenceContext(path, threads=args.threads, cpus=args.cpus) as context:
                begin_ns = time.perf_counter_ns()
                results = context.run(*inputs.arrays)
                duration_ns = time.perf_counter_ns() - begin_ns
                threads = context.threads
            name = artifact.manifest.model.name
        files = write_outputs(results, args.output) if args.output is not None else {}
        summaries = {key: summarize_array(array) for key, array in results.items()}
        output.json(
            {
                "model": name,
                "symbols": inputs.symbols,
                "inputs": inputs.source,
                "threads": threads,
                "duration_ns": duration_ns,
                "outputs": {
                    key: {**summaries[key], "file": str(files[key])} if files else summaries[key] for key in results
                },
            }
        )
        made_up = "" if inputs.source == "files" else f", {inputs.source} inputs"
        plural = "s" if threads != 1 else ""
        output.text(f"{name}: first run in {format_ns(duration_ns)} on {threads} thread{plural}{made_up}")
        output.text(table([(key, summary_text(summary)) for key, summary in summaries.items()]))
        for file in dict.fromkeys(files.values()):
            output.text(f"wrote {file}")
        return 0
