from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from cuvil_edge.artifact.manifest import TargetInfo
from cuvil_edge.board.device import Device
from cuvil_edge.config import Config
from cuvil_edge.errors import ArtifactError, DiskFullError, UnsupportedError, WrongArchitectureError
from cuvil_edge.profile.records import Profile
from cuvil_edge.remote import device_session
from cuvil_edge.remote.device_session import connect as connect_device
from cuvil_edge.remote.device_session import deploy, doctor, transport_here
from cuvil_edge.remote.measure import MeasureOptions
from cuvil_edge.remote.transports.local import LocalTransport
from cuvil_edge.remote.transports.ssh import SshTransport
from tests.remote.artifacts import make_artifact, make_manifest
from tests.remote.ssh_server import BoardServer


def test_from_the_artifact_to_the_run_folder(
    board: BoardServer, connect: Callable[..., SshTransport], config: Config, tmp_path: Path
) -> None:
    stages: list[str] = []
    result = deploy(
        make_artifact(tmp_path / "m.cuvil"),
        connect(),
        config=config,
        options=MeasureOptions(runs=2),
        command="cuvil-edge deploy m.cuvil",
        run_folder=tmp_path / "run",
        on_stage=lambda stage, _done, _total: stages.append(stage),
    )
    assert list(dict.fromkeys(stages)) == [
        *("artifact", "facts", "lock", "upload", "check", "verify", "activate", "measure"),
    ]
    assert set(result.stage_duration_ns) == set(stages)
    profile = Profile.load(tmp_path / "run")
    assert profile.verification is not None
    assert profile.verification.passed
    assert profile.command == "cuvil-edge deploy m.cuvil"
    assert profile.transport == "ssh"
    assert result.run_folder == tmp_path / "run"


def test_wrong_architecture_is_refused_before_anything_is_copied(
    board: BoardServer, connect: Callable[..., SshTransport], config: Config, tmp_path: Path
) -> None:
    target = TargetInfo("host", None, "scalar", "riscv64", "riscv64-linux-gnu", "generic", ())
    with pytest.raises(WrongArchitectureError):
        deploy(make_artifact(tmp_path / "m.cuvil", target=target), connect(), config=config)
    assert list(board.home.iterdir()) == []
    assert len(board.commands) == 1


def test_damaged_artifact_never_reaches_the_device(
    board: BoardServer, connect: Callable[..., SshTransport], config: Config, tmp_path: Path
) -> None:
    path = make_artifact(tmp_path / "m.cuvil", padding_bytes=4096)
    data = bytearray(path.read_bytes())
    data[data.rindex(b"\x10\x11\x12")] ^= 1
    path.write_bytes(data)
    with pytest.raises(ArtifactError):
        deploy(path, connect(), config=config)
    assert board.commands == []


def test_full_disk_is_no_obstacle_to_what_is_installed_already(
    local: LocalTransport, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_artifact(tmp_path / "m.cuvil")
    other = make_artifact(tmp_path / "other.cuvil", padding_bytes=4096)
    deploy(path, local, config=config)
    full = {"free_disk": {"available_bytes": 0, "total_bytes": 1 << 30}}
    monkeypatch.setattr(device_session, "gather_facts", lambda *_a, **_k: full)
    assert deploy(path, local, config=config).installation.uploaded_bytes == 0
    with pytest.raises(DiskFullError):
        deploy(other, local, config=config)


def test_doctor_tells_facts_and_what_is_installed(local: LocalTransport, config: Config, tmp_path: Path) -> None:
    assert doctor(local).installed == ()
    result = deploy(make_artifact(tmp_path / "m.cuvil"), local, config=config)
    assert result.measurement is None
    found = doctor(local, manifest=make_manifest())
    assert found.installed[0].current == result.installation.sha256
    assert found.facts["kernel"]
    assert not [finding for finding in found.findings if finding.severity == "error"]


def test_device_of_the_users_file_is_connected_to(board: BoardServer) -> None:
    device = Device("kitchen", "board")
    with connect_device(device, ssh_config=board.config_file) as transport:
        assert transport.run(["true"]).exit_status == 0
        assert transport.label == "board"


def test_where_an_artifact_runs_without_a_device(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    def target(arch: str, cpu: str) -> TargetInfo:
        return dataclasses.replace(make_manifest().target, arch=arch, cpu=cpu)

    monkeypatch.setattr(device_session.platform, "machine", lambda: "x86_64")
    assert transport_here(make_manifest(target=target("x86_64", "generic")), config).kind == "local"
    with pytest.raises(UnsupportedError, match="--host"):
        transport_here(make_manifest(target=target("riscv64", "generic")), config)


@pytest.mark.cross
def test_other_architectures_run_under_the_emulator(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_session.platform, "machine", lambda: "x86_64")
    target = dataclasses.replace(make_manifest().target, arch="aarch64", cpu="cortex_a72-aes")
    transport = transport_here(make_manifest(target=target), config)
    assert transport.kind == "emulator"
    assert transport.label == "emulator (cortex-a72)"
