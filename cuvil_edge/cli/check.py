"""``cuvil-edge check``: can this model run on that board, and what would it take?"""

from __future__ import annotations

import argparse

from cuvil_edge.cli._arguments import add_model, add_target, parse_dims
from cuvil_edge.cli._base import Subcommand
from cuvil_edge.cli._model_file import refuse_artifact
from cuvil_edge.cli._output import Output


class Check(Subcommand):
    """Everything up to code generation: needs no compiler, takes no longer than reading the model and planning it."""

    name = "check"
    help = "say whether a model can be compiled for a board: every problem at once, or what it will take"
    epilog = """\
examples:
  cuvil-edge check model.onnx --board raspberry-pi-5
  cuvil-edge check model.onnx --board jetson-orin --dim N=1 --dim height=32..1024:32 --verbose
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The model and the target."""
        add_model(parser, "an ONNX file")
        add_target(parser, with_compiler=False)

    def run(self, args: argparse.Namespace, output: Output) -> int:
        """Plan the model and summarise the plan."""
        from cuvil_edge.cli._summary import ModelSummary
        from cuvil_edge.compiler import plan_model, resolve_target

        refuse_artifact(args.model, "check")
        target = resolve_target(None, args.board, args.isa)
        output.progress("check: import and plan")
        imported, program = plan_model(args.model, target, parse_dims(args.dim) or None)
        summary = ModelSummary.of(imported, program, target)
        output.json(summary.to_json())
        output.text(summary.text())
        for step in program.plan.steps:
            layers = " + ".join(step.layers) or step.name
            note = f"  ({step.notes})" if step.notes else ""
            output.detail(f"  {layers}: {step.kernel}{note}")
        for refusal in program.refusals:
            output.detail(f"  not used for {refusal}")
        return 0
