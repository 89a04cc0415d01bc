"""What a deployment did, in words and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuvil_edge.cli._results import summarize_array, summary_text
from cuvil_edge.units import format_bytes, format_ns

if TYPE_CHECKING:
    from cuvil_edge.artifact.reader import ArtifactReader
    from cuvil_edge.cli._array_files import Array
    from cuvil_edge.profile.records import Verification
    from cuvil_edge.remote.device_session import DeployResult
    from cuvil_edge.remote.preflight import Finding


def result_text(
    result: DeployResult,
    artifact: ArtifactReader,
    key: str | None,
    outputs: Mapping[str, Array],
    files: Mapping[str, Path],
) -> str:
    """Lines about the installation, its verification, its findings and the outputs."""
    done = result.installation
    upload = "it was there already"
    if done.uploaded_bytes:
        upload = f"uploaded {format_bytes(done.uploaded_bytes)} in {format_ns(done.upload_duration_ns)}"
    lines = [f"Recorded the new host key {key}."] if key else []
    lines.append(f"{artifact.manifest.model.name} ({done.sha256[:12]}) is installed on {result.device}: {upload}.")
    lines += [_verified(verification) for verification in done.verifications]
    if done.previous_sha256:
        lines.append(f"Before, {done.previous_sha256[:12]} was current; 'cuvil-edge rollback' makes it so again.")
    for finding in _findings(result):
        lines += [f"{finding.severity}: {finding}", f"  hint: {finding.hint}"]
    lines += [f"output {name}: {summary_text(summarize_array(array))}" for name, array in outputs.items()]
    lines += [f"wrote {file}" for file in dict.fromkeys(files.values())]
    if result.measurement is not None and result.measurement.reason is not None:
        lines.append(f"There is no measurement: {result.measurement.reason}.")
    return "\n".join(lines)


def _findings(result: DeployResult) -> tuple[Finding, ...]:
    """What the user can do something about: that an emulator's machine is busy does not change what is counted."""
    is_emulated = result.transport == "emulator" or bool(result.facts.get("emulated"))
    return () if is_emulated else result.findings


def _verified(verification: Verification) -> str:
    errors = [output.max_rel_error for output in verification.outputs if output.max_rel_error is not None]
    nearness = f", at most {max(errors):.2g} of the output's range from the reference" if errors else ""
    return f"Its answers are right there (case {verification.reference}{nearness})."


def result_json(
    result: DeployResult,
    artifact: ArtifactReader,
    key: str | None,
    outputs: Mapping[str, Array],
    files: Mapping[str, Path],
) -> dict[str, Any]:
    """The same for ``--json``."""
    done = result.installation
    summaries = {name: summarize_array(array) for name, array in outputs.items()}
    return {
        "device": result.device,
        "transport": result.transport,
        "model": artifact.manifest.model.name,
        "target": artifact.manifest.target.name,
        "sha256": done.sha256,
        "previous_sha256": done.previous_sha256,
        "uploaded_bytes": done.uploaded_bytes,
        "upload_duration_ns": done.upload_duration_ns,
        "verifications": [verification.to_json() for verification in done.verifications],
        "findings": [finding.to_json() for finding in _findings(result)],
        "stage_duration_ns": result.stage_duration_ns,
        "accepted_host_key": key,
        "outputs": {n: {**s, "file": str(files[n])} if n in files else s for n, s in summaries.items()},
        "no_measurement": result.measurement.reason if result.measurement is not None else None,
    }
