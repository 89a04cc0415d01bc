"""The whole way with the real agent: to both virtual boards over SSH, and under the emulator."""

from __future__ import annotations

import dataclasses
import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

import cuvil_edge
from cuvil_edge.artifact.manifest import Manifest
from cuvil_edge.artifact.reader import ArtifactReader
from cuvil_edge.artifact.writer import write_artifact
from cuvil_edge.config import Config
from cuvil_edge.errors import CrashedError, LinkLostError, MissingFeatureError, WrongAnswerError
from cuvil_edge.profile.records import Profile
from cuvil_edge.remote.agent import Agent
from cuvil_edge.remote.device_session import DeployResult, deploy, transport_here
from cuvil_edge.remote.install import install, installed, rollback
from cuvil_edge.remote.layout import Layout
from cuvil_edge.remote.measure import InputData, MeasureOptions
from cuvil_edge.remote.transports._base import Timeouts, Transport
from cuvil_edge.remote.transports.ssh import SshTransport

Boards = Callable[[str], dict[str, Any]]
KINDS = ["busybox", "debian"]


@pytest.fixture(scope="module")
def artifact_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """y = relu(x + x), batch symbolic, compiled for the smallest of the boards."""
    nodes = [
        helper.make_node("Add", ["x", "x"], ["t"], name="double"),
        helper.make_node("Relu", ["t"], ["y"], name="relu"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 40])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 40])
    graph = helper.make_graph(nodes, "double_relu", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    folder = tmp_path_factory.mktemp("board")
    onnx.save(model, folder / "double_relu.onnx")
    config = dataclasses.replace(Config.from_environment(), jobs=1)
    artifact = cuvil_edge.compile(folder / "double_relu.onnx", board="raspberry-pi-4", config=config)
    return Path(artifact.save(folder / "double_relu.cuvil"))


def changed(path: Path, target: Path, change: Callable[[Manifest, dict[str, bytes]], Manifest]) -> Path:
    """A copy of an artifact that differs as told, with right hashes."""
    with ArtifactReader(path) as reader:
        members = {name: bytes(reader.member(name)) for name in reader.manifest.members}
        write_artifact(target, change(reader.manifest, members), members)
    return target


@pytest.fixture(params=KINDS)
def device(request: pytest.FixtureRequest, virtual_board: Boards, tmp_path: Path) -> Iterator[Transport]:
    """A connection to a virtual board that has nothing of ours on it."""
    board = virtual_board(request.param)
    timeouts = Timeouts(run_seconds=120)
    with SshTransport.connect(board["ssh_host"], config_file=Path(board["ssh_config"]), timeouts=timeouts) as transport:
        transport.run(["rm", "-rf", ".cuvil"])
        yield transport
        transport.run(["rm", "-rf", ".cuvil"])


def leftovers(transport: Transport) -> list[str]:
    """What should not be there after a deployment, whether it failed or not."""
    done = transport.run(["sh", "-c", "cd .cuvil/double_relu && ls -d incoming/* lock* current.* 2>/dev/null"])
    return done.text.split()


def go(transport: Transport, path: Path, config: Config, **options: Any) -> DeployResult:
    return deploy(path, transport, config=config, **options)


@pytest.mark.board
def test_deploy_verify_measure(device: Transport, artifact_path: Path, config: Config, tmp_path: Path) -> None:
    options = MeasureOptions(runs=3)
    result = go(device, artifact_path, config, options=options, run_folder=tmp_path / "run")
    assert result.installation.verifications[0].passed
    assert result.facts["architecture"] == "aarch64"
    assert result.facts["emulated"] is True
    assert [item.current for item in installed(device, root=".cuvil")] == [result.installation.sha256]
    assert leftovers(device) == []
    assert result.measurement is not None
    if result.measurement.profile is None:
        assert "plugin" in (result.measurement.reason or "")
        return
    profile = Profile.load(tmp_path / "run")
    assert (profile.unit, profile.transport) == ("instructions", "ssh")
    assert profile.run_wall_ns == ()
    assert all(count > 0 for count in profile.step_counters["instructions"])
    again = go(device, artifact_path, config)
    assert again.installation.uploaded_bytes == 0


@pytest.mark.board
def test_wrong_answer_leaves_the_previous_release(
    device: Transport, artifact_path: Path, config: Config, tmp_path: Path
) -> None:
    first = go(device, artifact_path, config).installation.sha256

    def lie(manifest: Manifest, members: dict[str, bytes]) -> Manifest:
        name = manifest.reference[0].outputs[0]
        (value,) = struct.unpack_from("<f", members[name])
        members[name] = struct.pack("<f", value + 1) + members[name][4:]
        return manifest

    with pytest.raises(WrongAnswerError, match="y: 1 elements differ"):
        go(device, changed(artifact_path, tmp_path / "lie.cuvil", lie), config)
    (item,) = installed(device, root=".cuvil")
    assert (item.current, item.previous) == (first, None)
    assert leftovers(device) == []


@pytest.mark.board
def test_rollback(device: Transport, artifact_path: Path, config: Config, tmp_path: Path) -> None:
    def rename(manifest: Manifest, _members: dict[str, bytes]) -> Manifest:
        return dataclasses.replace(manifest, compiler_version="another")

    first = go(device, artifact_path, config).installation.sha256
    second = go(device, changed(artifact_path, tmp_path / "b.cuvil", rename), config).installation
    assert second.previous_sha256 == first
    assert rollback(device, "double_relu", root=".cuvil") == (first, second.sha256)
    layout = Layout(".cuvil", "double_relu")
    with Agent.start(device, f"{layout.directory}/current") as agent:
        assert agent.describe()["ok"]
    assert leftovers(device) == []


@pytest.mark.board
def test_board_without_the_instructions_is_refused_by_facts_or_by_the_agent(
    device: Transport, artifact_path: Path, config: Config, tmp_path: Path
) -> None:
    def demand(manifest: Manifest, _members: dict[str, bytes]) -> Manifest:
        features = (*manifest.target.required_features, "of_the_future")
        return dataclasses.replace(manifest, target=dataclasses.replace(manifest.target, required_features=features))

    path = changed(artifact_path, tmp_path / "new.cuvil", demand)
    if "cpu_features" in go(device, artifact_path, config).facts:
        with pytest.raises(MissingFeatureError, match="of_the_future"):
            go(device, path, config)


@pytest.mark.board
def test_agent_that_is_killed_there_is_named(device: Transport, artifact_path: Path, config: Config) -> None:
    directory = go(device, artifact_path, config).installation.directory
    agent = Agent.start(device, directory)
    assert device.run(["kill", "-KILL", str(agent.info.pid)]).exit_status == 0
    with pytest.raises(CrashedError, match="SIGKILL"):
        agent.describe()


@pytest.mark.board
@pytest.mark.parametrize("kind", KINDS)
def test_connection_cut_in_the_upload_leaves_the_previous_release(
    kind: str, virtual_board: Boards, artifact_path: Path, config: Config, tmp_path: Path
) -> None:
    board = virtual_board(kind)

    def reach() -> SshTransport:
        return SshTransport.connect(board["ssh_host"], config_file=Path(board["ssh_config"]))

    def grow(manifest: Manifest, members: dict[str, bytes]) -> Manifest:
        members["reference/random/padding.bin"] = bytes(4 << 20)
        return manifest

    big = changed(artifact_path, tmp_path / "big.cuvil", grow)
    with reach() as transport:
        transport.run(["rm", "-rf", ".cuvil"])
        first = go(transport, artifact_path, config).installation.sha256

        def cut(stage: str, done: int, _total: int) -> None:
            if stage == "upload" and done > 1 << 20:
                transport.session.sock.close()

        with pytest.raises(LinkLostError), ArtifactReader(big) as artifact:
            install(transport, artifact, root=".cuvil", on_stage=cut)
    with reach() as transport:
        assert [item.current for item in installed(transport, root=".cuvil")] == [first]
        go(transport, big, config)
        assert leftovers(transport) == []
        transport.run(["rm", "-rf", ".cuvil"])


@pytest.mark.cross
def test_under_the_emulator_instructions_are_counted(artifact_path: Path, config: Config, tmp_path: Path) -> None:
    with ArtifactReader(artifact_path) as artifact:
        transport = transport_here(artifact.manifest, config)
    if transport.kind != "emulator":
        pytest.skip("this machine runs ARM64 programs itself")
    numbers = [float(i - 60) for i in range(120)]
    inputs = (InputData(struct.pack("<120f", *numbers), (3, 40)),)
    one = go(transport, artifact_path, config, options=MeasureOptions(), run_folder=tmp_path / "one")
    three = go(transport, artifact_path, config, options=MeasureOptions(inputs=inputs), run_folder=tmp_path / "three")
    assert one.measurement is not None
    assert three.measurement is not None
    if one.measurement.profile is None:
        pytest.skip(one.measurement.reason or "")
    assert three.measurement.profile is not None
    counts = [sum(m.profile.step_counters["instructions"]) for m in (one.measurement, three.measurement) if m.profile]
    assert counts[1] > counts[0] > 0
    assert three.measurement.profile.symbols == {"N": 3}
    stored = json.loads((tmp_path / "one" / "profile.json").read_text())
    assert stored["unit"] == "instructions"
    assert not stored.get("run_wall_ns")
