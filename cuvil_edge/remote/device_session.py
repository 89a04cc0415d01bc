"""What a user does with a device, from the first look to the measured run."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuvil_edge.artifact.manifest import Manifest
from cuvil_edge.artifact.reader import ArtifactReader
from cuvil_edge.board.device import Device
from cuvil_edge.config import Config
from cuvil_edge.errors import DiskFullError, UnsupportedError
from cuvil_edge.profile.records import BoardLimits
from cuvil_edge.remote.gather import gather_facts
from cuvil_edge.remote.install import Installation, Installed, OnStage, install, installed, release_files
from cuvil_edge.remote.layout import DEFAULT_ROOT
from cuvil_edge.remote.measure import Labels, Measurement, MeasureOptions, measure, save_run
from cuvil_edge.remote.preflight import Finding, preflight, refuse
from cuvil_edge.remote.transports._base import Timeouts, Transport
from cuvil_edge.remote.transports._ssh_settings import Address
from cuvil_edge.remote.transports.emulator import EmulatorTransport, emulated_cpu
from cuvil_edge.remote.transports.local import LocalTransport


@dataclass(frozen=True)
class DeployResult:
    """Everything that a deployment found out and did."""

    device: str
    transport: str
    facts: dict[str, Any]
    findings: tuple[Finding, ...]
    installation: Installation
    measurement: Measurement | None
    run_folder: Path | None
    stage_duration_ns: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class DoctorResult:
    """The state of a device."""

    device: str
    facts: dict[str, Any]
    findings: tuple[Finding, ...]
    installed: tuple[Installed, ...]


def connect(
    device: Device,
    *,
    ssh_config: Path | None = None,
    accept_new_host_key: bool = False,
    timeouts: Timeouts | None = None,
) -> Transport:
    """An SSH connection to a device of the user's file or of ``parse_host``; raises as ``SshTransport.connect``."""
    from cuvil_edge.remote.transports.ssh import SshTransport  # loads cryptography, which takes its time

    address = Address(device.host, device.user, device.port)
    return SshTransport.connect(
        address, config_file=ssh_config, accept_new_host_key=accept_new_host_key, timeouts=timeouts
    )


def transport_here(manifest: Manifest, config: Config, *, timeouts: Timeouts | None = None) -> Transport:
    """Where an artifact runs without a device: on this machine, or under the emulator of its architecture.

    Raises:
        UnsupportedError: this machine is of another architecture, and there is no emulator for the artifact's.
    """
    limits = timeouts or Timeouts()
    if platform.machine() == manifest.target.arch:
        return LocalTransport(timeouts=limits)
    if manifest.target.arch != "aarch64":
        raise UnsupportedError(
            "this machine cannot run the artifact",
            thing=manifest.target.name,
            expected=manifest.target.arch,
            found=platform.machine(),
            hint="give a device with --host, or compile with --target host",
        )
    cpu = emulated_cpu(manifest.target.cpu)
    return EmulatorTransport(
        label=f"emulator ({cpu})", cpu=cpu, home=config.cache_dir / "emulator" / cpu, timeouts=limits
    )


def deploy(
    artifact_path: str | Path,
    transport: Transport,
    *,
    config: Config,
    root: str = DEFAULT_ROOT,
    options: MeasureOptions | None = None,
    board: str | None = None,
    limits: BoardLimits | None = None,
    command: str | None = None,
    run_folder: str | Path | None = None,
    on_stage: OnStage | None = None,
) -> DeployResult:
    """Check the artifact, look at the device, install, verify there, measure, write the run folder.

    Args:
        options: how to measure; None installs and verifies only.
        board: the device's board, for the report; None takes the artifact's.
        limits: that board's limits, for the report's roofline.
        command: a command line that repeats this, for the report.
        run_folder: where to write the run folder; None writes none.
        on_stage: told of each stage, and of the bytes while uploading.

    Raises:
        ArtifactError: the artifact is damaged.
        RemoteError: by what failed; what was installed before is then still current, except that a failed measurement
            leaves the new release, which gave right answers.
    """
    clock = _Stages(on_stage)
    with ArtifactReader(artifact_path) as artifact:
        clock("artifact")
        artifact.verify()
        clock("facts")
        facts = gather_facts(transport, root=root)
        upload_bytes = sum(file.size_bytes for file in release_files(artifact))
        findings = preflight(facts, artifact.manifest, upload_bytes=upload_bytes)
        if any(finding.family is DiskFullError for finding in findings) and _is_installed(transport, artifact, root):
            findings = preflight(facts, artifact.manifest)
        refuse(findings, transport.label)
        done = install(transport, artifact, root=root, on_stage=clock)
        measurement, folder = None, None
        if options is not None:
            clock("measure")
            verification = done.verifications[0] if done.verifications else None
            labels = Labels(transport.label, board, limits, command, verification)
            measurement = measure(transport, artifact, options, labels, config=config, root=root)
            if run_folder is not None and measurement.profile is not None:
                folder = save_run(run_folder, measurement.profile, artifact)
        durations = clock.finish()
    return DeployResult(transport.label, transport.kind, facts, findings, done, measurement, folder, durations)


def doctor(transport: Transport, *, root: str = DEFAULT_ROOT, manifest: Manifest | None = None) -> DoctorResult:
    """The facts of a device, what speaks against running there (``manifest``: this artifact), and what is installed.

    Raises:
        RemoteError: the device could not be asked.
    """
    facts = gather_facts(transport, root=root)
    return DoctorResult(transport.label, facts, preflight(facts, manifest), installed(transport, root=root))


def _is_installed(transport: Transport, artifact: ArtifactReader, root: str) -> bool:
    """Whether nothing has to be uploaded."""
    return any(artifact.sha256 in (item.current, item.previous) for item in installed(transport, root=root))


class _Stages:
    """Passes stages on, and takes the time of each."""

    def __init__(self, on_stage: Callable[[str, int, int], None] | None) -> None:
        self._on_stage = on_stage
        self._durations_ns: dict[str, int] = {}
        self._current: tuple[str, int] | None = None

    def __call__(self, stage: str, done: int = 0, total: int = 0) -> None:
        if self._current is None or self._current[0] != stage:
            self.finish()
            self._current = (stage, time.monotonic_ns())
        if self._on_stage is not None:
            self._on_stage(stage, done, total)

    def finish(self) -> dict[str, int]:
        """The durations of the stages so far."""
        if self._current is not None:
            stage, since_ns = self._current
            elapsed_ns = time.monotonic_ns() - since_ns
            self._durations_ns[stage] = self._durations_ns.get(stage, 0) + elapsed_ns
            self._current = None
        return self._durations_ns
