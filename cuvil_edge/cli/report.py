"""``cuvil-edge report``: a measurement as text, tables, pictures or data, and the comparison of two."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuvil_edge.cli._base import Subcommand
from cuvil_edge.cli._output import Output
from cuvil_edge.cli._reports import TOP_LAYERS, report_json, terminal_report
from cuvil_edge.cli._table import table
from cuvil_edge.errors import UsageError
from cuvil_edge.units import format_count, format_ns

if TYPE_CHECKING:
    from cuvil_edge.report.compare import Comparison

_BINARY_FORMATS = ("onnx",)


class Report(Subcommand):
    """Renders a run folder; ``--compare`` puts a second one beside it."""

    name = "report"
    help = "show a measurement, in many formats, or compare two"
    epilog = """\
examples:
  cuvil-edge report run-folder
  cuvil-edge report run-folder --format html -o report.html
  cuvil-edge report run-folder --format trace -o trace.json      (for https://ui.perfetto.dev)
  cuvil-edge report run-folder --format onnx -o compiled.onnx    (for Netron)
  cuvil-edge report --compare before after
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Folders, format and file."""
        parser.add_argument("folders", metavar="RUN-FOLDER", nargs="*", type=Path, help="written by profile and deploy")
        parser.add_argument("--format", metavar="NAME", help="terminal (default), json, csv, html, trace, onnx ...")
        parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="write it there instead of printing it")
        parser.add_argument("--compare", action="store_true", help="compare two run folders, the earlier one first")
        parser.add_argument(
            "--all-layers", action="store_true", help=f"list all layers, not only the slowest {TOP_LAYERS}"
        )

    def run(self, args: argparse.Namespace, output: Output) -> int:
        """Render, or compare."""
        wanted = 2 if args.compare else 1
        if len(args.folders) != wanted:
            raise UsageError(
                "the number of run folders is wrong",
                expected="--compare BEFORE AFTER" if args.compare else "one; two with --compare",
                found=str(len(args.folders)),
            )
        return self._compare(args, output) if args.compare else self._render(args, output)

    def _render(self, args: argparse.Namespace, output: Output) -> int:
        from cuvil_edge.profile.records import Profile
        from cuvil_edge.report.build import build_report
        from cuvil_edge.report.render import format_named, render_bytes, write_report

        name = args.format or ("json" if output.as_json and args.output is None else "terminal")
        format_named(name)
        report = build_report(Profile.load(args.folders[0]))
        if args.output is not None:
            path = write_report(report, name, args.output)
            output.json({"format": name, "file": str(path), "verdict": report.verdict})
            output.text(f"Wrote {path}.")
            return 0
        if output.as_json:
            if name != "json":
                raise UsageError(
                    "--json prints JSON", found=f"--format {name}", hint="leave --json out, or give -o FILE"
                )
            output.json({"report": report_json(report)})
            return 0
        if name in _BINARY_FORMATS and output.is_terminal:
            raise UsageError(f"{name} is binary and not for a terminal", hint="write it to a file with -o FILE")
        output.raw(
            terminal_report(report, output, all_layers=args.all_layers)
            if name == "terminal"
            else render_bytes(report, name)
        )
        return 0

    def _compare(self, args: argparse.Namespace, output: Output) -> int:
        from cuvil_edge.profile.records import Profile
        from cuvil_edge.report.compare import compare

        if args.format not in (None, "terminal", "json"):
            raise UsageError("a comparison has no such format", expected="terminal, json", found=args.format)
        first, second = (Profile.load(folder) for folder in args.folders)
        comparison = compare(first, second)
        if args.format == "json":
            output.as_json = True
        output.json({"comparison": _as_json(comparison)})
        output.text(_comparison_text(comparison, None if args.all_layers else TOP_LAYERS))
        return 0


def _as_json(comparison: Comparison) -> dict[str, Any]:
    return {
        "ratio": comparison.ratio,
        "interval": asdict(comparison.interval) if comparison.interval else None,
        "verdict": comparison.verdict,
        "conclusion": comparison.conclusion,
        "reasons": [asdict(reason) for reason in comparison.reasons],
        "layers": [asdict(layer) for layer in comparison.layers],
    }


def _comparison_text(comparison: Comparison, top: int | None) -> str:
    lines = [comparison.conclusion]
    for reason in comparison.reasons:
        lines += [f"  {reason.severity}: {reason.what}: {reason.found}", f"    hint: {reason.hint}"]
    if comparison.layers:
        show = format_ns if comparison.a.is_timed else format_count
        rows = [("LAYER", "FIRST", "SECOND", "RATIO")]
        for layer in comparison.layers[:top]:
            ratio = f"{layer.ratio:.3f}" if layer.ratio is not None else "-"
            rows.append((layer.name, show(layer.a), show(layer.b), ratio))
        lines += ["", "Layers, the largest changes first", table(rows, right=frozenset({1, 2, 3}))]
    return "\n".join(lines)
