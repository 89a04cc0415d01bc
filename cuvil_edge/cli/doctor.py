"""``cuvil-edge doctor``: the state of a device, and what speaks against running there."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuvil_edge.cli._base import Subcommand
from cuvil_edge.cli._device import accepted_host_key, add_device, connect_device, device_root, named_device
from cuvil_edge.cli._output import Output
from cuvil_edge.cli._table import table
from cuvil_edge.cli._tools import Tool, tools_here
from cuvil_edge.errors import UsageError

if TYPE_CHECKING:
    from cuvil_edge.artifact.manifest import Manifest
    from cuvil_edge.remote.device_session import DoctorResult

_FACT_WIDTH = 100


class Doctor(Subcommand):
    """Changes nothing. Exit status 1 where something makes running impossible."""

    name = "doctor"
    help = "look at a device, or at this machine: what it is, what is installed, what speaks against measuring there"
    epilog = """\
examples:
  cuvil-edge doctor                        (this machine, with the tools that compiling needs)
  cuvil-edge doctor kitchen
  cuvil-edge doctor --host pi@192.168.1.20 --for model.cuvil
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The device, and perhaps an artifact that shall run on it."""
        parser.add_argument("device", metavar="DEVICE", nargs="?", help="one of 'cuvil-edge devices'")
        parser.add_argument("--for", dest="artifact", metavar="FILE", type=Path, help="would this artifact run there?")
        add_device(parser, with_name=False)

    def run(self, args: argparse.Namespace, output: Output) -> int:
        """Gather and show."""
        from cuvil_edge.remote.device_session import doctor
        from cuvil_edge.remote.layout import DEFAULT_ROOT
        from cuvil_edge.remote.transports.local import LocalTransport

        manifest = _manifest(args.artifact)
        device = named_device(args, args.device)
        output.progress("connect" if device is not None else "look")
        tools: list[Tool] = []
        if device is None:
            with LocalTransport() as transport:
                result = doctor(transport, root=args.root or DEFAULT_ROOT, manifest=manifest)
            tools, key = tools_here(), None
        else:
            with connect_device(args, device) as transport:
                output.progress("read the facts")
                result = doctor(transport, root=device_root(args, device), manifest=manifest)
                key = accepted_host_key(transport)
        output.json(_as_json(result, tools, key))
        output.text(_text(result, tools, key))
        return 1 if any(finding.severity == "error" for finding in result.findings) else 0


def _manifest(path: Path | None) -> Manifest | None:
    from cuvil_edge.artifact.reader import ArtifactReader

    if path is None:
        return None
    if not path.exists():
        raise UsageError("there is no such file", thing=f"--for {path}")
    with ArtifactReader(path) as artifact:
        return artifact.manifest


def _as_json(result: DoctorResult, tools: list[Tool], key: str | None) -> dict[str, Any]:
    return {
        "device": result.device,
        "facts": result.facts,
        "findings": [finding.to_json() for finding in result.findings],
        "installed": [asdict(model) for model in result.installed],
        "tools": [asdict(tool) for tool in tools],
        "accepted_host_key": key,
    }


def _text(result: DoctorResult, tools: list[Tool], key: str | None) -> str:
    from cuvil_edge.report.text import fact_text

    lines = [f"Recorded the new host key {key}."] if key else []
    lines.append(result.device)
    lines.append(table(_fact_rows((name.replace("_", " "), fact_text(name, v)) for name, v in result.facts.items())))
    if result.installed:
        lines.append("Installed models")
        lines.append(table([(m.model, (m.current or "-")[:12], _previous(m.previous)) for m in result.installed]))
    if tools:
        lines.append("Tools")
        lines.append(table([(tool.name, tool.found or "missing", tool.use) for tool in tools]))
    for finding in result.findings:
        lines.append(f"{finding.severity}: {finding}")
        lines.append(f"  hint: {finding.hint}")
    if not result.findings:
        lines.append("Nothing speaks against running and measuring here.")
    return "\n".join(lines)


def _fact_rows(facts: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The facts, long ones on several lines."""
    rows = []
    for name, text in facts:
        first, *rest = textwrap.wrap(text, _FACT_WIDTH) or [""]
        rows += [(name, first), *(("", line) for line in rest)]
    return rows


def _previous(sha256: str | None) -> str:
    return f"before: {sha256[:12]}" if sha256 else ""
