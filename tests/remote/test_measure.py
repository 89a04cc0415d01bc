from __future__ import annotations

import dataclasses
import json
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from cuvil_edge.artifact.reader import ArtifactReader
from cuvil_edge.config import Config
from cuvil_edge.errors import CrashedError, InputError, RemoteCommandError, UsageError
from cuvil_edge.profile.records import BoardLimits, Profile
from cuvil_edge.remote import gather as gather_module
from cuvil_edge.remote import measure as measure_module
from cuvil_edge.remote.install import install
from cuvil_edge.remote.measure import InputData, Labels, MeasureOptions, bound_symbols, measure, save_run
from cuvil_edge.remote.transports.local import LocalTransport
from cuvil_edge.remote.transports.ssh import SshTransport
from tests.remote.artifacts import make_artifact, make_manifest
from tests.remote.ssh_server import BoardServer

LABELS = Labels("pi", "raspberry-pi-5", BoardLimits(peak_flops_per_second=10), "cuvil-edge deploy")


def test_profile_of_the_reference_case(local: LocalTransport, config: Config, tmp_path: Path) -> None:
    with ArtifactReader(make_artifact(tmp_path / "m.cuvil")) as artifact:
        install(local, artifact, root=".cuvil")
        result = measure(local, artifact, MeasureOptions(runs=5, threads=3), LABELS, config=config)
    profile = result.profile
    assert profile is not None
    assert (profile.unit, profile.transport, profile.device, profile.board) == ("ns", "local", "pi", "raspberry-pi-5")
    assert profile.run_wall_ns == (1100,) * 5
    assert profile.step_duration_ns[0] == (500, 400)
    assert (profile.threads, profile.warmup_runs, profile.arena_bytes) == (3, 3, 64)
    assert profile.symbols == {"N": 1}
    assert [step.flops for step in profile.steps] == [4, 4]
    assert profile.steps[0].inputs[0].shape == (1, 4)
    assert [slot.bytes for slot in profile.slots] == [16, 16, 16]
    assert profile.arena_lower_bound_bytes == 16
    assert profile.facts_before["architecture"] == profile.facts_after["architecture"]
    assert Profile.from_json(json.loads(json.dumps(profile.to_json()))) == profile


def test_inputs_of_the_user_decide_the_symbols_and_are_removed_afterwards(
    board: BoardServer, connect: Callable[..., SshTransport], config: Config, tmp_path: Path
) -> None:
    transport = connect()
    inputs = (InputData(struct.pack("<12f", *range(12)), (3, 4)),)
    with ArtifactReader(make_artifact(tmp_path / "m.cuvil")) as artifact:
        install(transport, artifact, root=".cuvil")
        options = MeasureOptions(runs=2, inputs=inputs)
        profile = measure(transport, artifact, options, LABELS, config=config).profile
    assert profile is not None
    assert profile.symbols == {"N": 3}
    assert profile.steps[1].bytes_read == 48
    assert profile.arena_lower_bound_bytes is None
    assert not list((board.home / ".cuvil" / "tiny").glob("inputs-*"))


def test_inputs_are_removed_when_the_agent_crashes(local: LocalTransport, config: Config, tmp_path: Path) -> None:
    inputs = (InputData(bytes(16), (1, 4)),)
    with ArtifactReader(make_artifact(tmp_path / "m.cuvil", {"profile": "SIGSEGV"})) as artifact:
        install(local, artifact, root=".cuvil")
        with pytest.raises(CrashedError):
            measure(local, artifact, MeasureOptions(inputs=inputs), LABELS, config=config)
    assert not list((local.home / ".cuvil" / "tiny").glob("inputs-*"))


def test_symbols_are_bound_to_inputs_of_the_right_form() -> None:
    assert bound_symbols(make_manifest(), [(7, 4)]) == {"N": 7}
    with pytest.raises(InputError, match="wrong number"):
        bound_symbols(make_manifest(), [])
    with pytest.raises(InputError, match="wrong rank"):
        bound_symbols(make_manifest(), [(7, 4, 1)])


def test_no_reference_case_and_no_inputs_is_told(local: LocalTransport, config: Config, tmp_path: Path) -> None:
    with ArtifactReader(make_artifact(tmp_path / "m.cuvil", reference=())) as artifact:
        install(local, artifact, root=".cuvil")
        with pytest.raises(InputError, match="--input"):
            measure(local, artifact, MeasureOptions(), LABELS, config=config)


def test_measurement_that_contradicts_itself_is_named(
    local: LocalTransport, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = measure_module.Agent.profile

    def lose_a_step(self: object, *args: object, **options: object) -> dict[str, object]:
        reply = profile(self, *args, **options)  # type: ignore[arg-type]
        reply["step_duration_ns"][0].pop()
        return reply

    monkeypatch.setattr(measure_module.Agent, "profile", lose_a_step)
    with ArtifactReader(make_artifact(tmp_path / "m.cuvil")) as artifact:
        install(local, artifact, root=".cuvil")
        with pytest.raises(RemoteCommandError, match="makes no sense"):
            measure(local, artifact, MeasureOptions(), LABELS, config=config)


def test_emulated_device_is_never_timed(
    local: LocalTransport, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure_module, "gather_facts", lambda *_a, **_k: {"emulated": True})
    with ArtifactReader(make_artifact(tmp_path / "m.cuvil")) as artifact:
        install(local, artifact, root=".cuvil")
        target = dataclasses.replace(artifact.manifest.target, arch="x86_64")
        object.__setattr__(artifact.manifest, "target", target)
        result = measure(local, artifact, MeasureOptions(), LABELS, config=config)
    assert result.profile is None
    assert result.reason is not None
    assert "not counted" in result.reason
    assert gather_module.gather_facts is not None


def test_run_folder_is_what_reports_need(local: LocalTransport, config: Config, tmp_path: Path) -> None:
    with ArtifactReader(make_artifact(tmp_path / "m.cuvil")) as artifact:
        install(local, artifact, root=".cuvil")
        profile = measure(local, artifact, MeasureOptions(runs=2), LABELS, config=config).profile
        assert profile is not None
        folder = save_run(tmp_path / "run", profile, artifact)
        assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "profile.json"]
        assert (folder / "manifest.json").read_bytes() == artifact.member("manifest.json")
        (tmp_path / "file").write_text("")
        with pytest.raises(UsageError):
            save_run(tmp_path / "file" / "run", profile, artifact)
    assert Profile.load(folder) == profile
