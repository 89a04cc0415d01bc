"""A compiled artifact that was changed, cut off, or meant for another machine: refused before any of it is executed.

Risks: a flipped bit becomes a wrong answer or a crash; code for another CPU ends in SIGILL; the program on a device
believes weights that are not the ones it was linked for; a damaged release is installed.
"""

from __future__ import annotations

import dataclasses
import json
import platform
import random
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import cuvil_edge
from cuvil_edge.artifact.manifest import Manifest
from cuvil_edge.artifact.reader import ArtifactReader
from cuvil_edge.artifact.writer import write_artifact
from cuvil_edge.artifact.zip_layout import Entry, plan_layout
from cuvil_edge.cli._main import run
from cuvil_edge.compiler import Artifact
from cuvil_edge.errors import ArtifactError, CuvilError, IncompatibleError, MissingFeatureError, WrongAnswerError
from cuvil_edge.remote.agent import Agent, Tensor
from cuvil_edge.remote.install import install
from cuvil_edge.remote.transports.emulator import EmulatorTransport
from cuvil_edge.remote.transports.local import LocalTransport
from tests.models import every_family_model

pytest.importorskip("ziglang", reason="needs the compiler")

ROOT = ".cuvil"
POSITIONS = 6
"""Bytes changed in each member, besides the first and the last."""
OPENED = ("lib/", "weights.bin", "manifest.json")
"""Members that the runtime here reads; the others are for devices."""


@pytest.fixture(scope="module")
def artifact() -> Artifact:
    """Every kernel family, compiled for this machine."""
    return cuvil_edge.compile(every_family_model(), isa="scalar")


@pytest.fixture(scope="module")
def sound(artifact: Artifact, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its file."""
    return artifact.save(tmp_path_factory.mktemp("sound") / "model.cuvil")


def open_and_run(path: Path) -> None:
    with cuvil_edge.InferenceContext(path, threads=1) as context:
        context.run({"x": np.zeros((1, 3, 32, 32), np.float32)})


def member_positions(path: Path) -> dict[str, list[int]]:
    """Places in the file where bytes of each member lie: its first, its last and some between."""
    source, places = random.Random(7), {}
    with ArtifactReader(path) as reader:
        for name in reader.names:
            begin, size = reader.offset(name), reader.member(name).nbytes
            inner = [begin + source.randrange(size) for _ in range(POSITIONS)]
            places[name] = [begin, begin + size - 1, *inner]
    return places


def changed(path: Path, position: int, folder: Path, value: int | None = None) -> Path:
    """A copy of the file with one bit (or the whole byte) changed."""
    data = bytearray(path.read_bytes())
    data[position] = data[position] ^ 0x10 if value is None else value
    copy = folder / "changed.cuvil"
    copy.write_bytes(data)
    return copy


def test_the_sound_artifact_runs(sound: Path) -> None:
    open_and_run(sound)


def test_a_changed_byte_of_any_member_is_found(sound: Path, tmp_path: Path) -> None:
    for name, positions in member_positions(sound).items():
        for position in positions:
            path = changed(sound, position, tmp_path)
            with pytest.raises(ArtifactError) as caught, ArtifactReader(path) as reader:
                reader.verify()
            assert caught.value.thing, name
            if name.startswith(OPENED):
                with pytest.raises(ArtifactError):
                    open_and_run(path)


def test_a_changed_byte_between_members_is_found_or_harmless(sound: Path, tmp_path: Path) -> None:
    """Headers, padding and the directory of the container."""
    with ArtifactReader(sound) as reader:
        inside = [(reader.offset(name), reader.offset(name) + reader.member(name).nbytes) for name in reader.names]
    size, source = sound.stat().st_size, random.Random(11)
    outside = [p for p in range(size) if not any(begin <= p < end for begin, end in inside)]
    for position in [*source.sample(outside, 60), *range(size - 22, size)]:
        path = changed(sound, position, tmp_path, source.randrange(256))
        with suppress(ArtifactError):
            open_and_run(path)


def test_a_file_cut_off_anywhere_is_refused(sound: Path, tmp_path: Path) -> None:
    data, path = sound.read_bytes(), tmp_path / "cut.cuvil"
    for length in [0, 1, 3, 21, 22, *range(64, len(data), len(data) // 40), len(data) - 1]:
        path.write_bytes(data[:length])
        with pytest.raises(ArtifactError):
            open_and_run(path)


def test_bytes_after_the_end_are_refused(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "longer.cuvil"
    path.write_bytes(sound.read_bytes() + b"\0")
    with pytest.raises(ArtifactError):
        open_and_run(path)


def rewritten(artifact: Artifact, path: Path, change: Callable[[Manifest], Manifest]) -> Path:
    """An artifact that is whole, with another manifest."""
    write_artifact(path, change(artifact.manifest), artifact.members)
    return path


def test_code_that_needs_a_missing_feature_is_refused_by_name(artifact: Artifact, tmp_path: Path) -> None:
    def needs_more(manifest: Manifest) -> Manifest:
        features = (*manifest.target.required_features, "warp_drive")
        return dataclasses.replace(manifest, target=dataclasses.replace(manifest.target, required_features=features))

    with pytest.raises(IncompatibleError, match="warp_drive"):
        open_and_run(rewritten(artifact, tmp_path / "more.cuvil", needs_more))


def test_code_for_another_architecture_is_refused_by_name(tmp_path: Path) -> None:
    board = "generic-x86-64" if platform.machine() == "aarch64" else "raspberry-pi-4"
    path = cuvil_edge.compile(every_family_model(), board=board).save(tmp_path / "other.cuvil")
    with pytest.raises(IncompatibleError) as caught:
        open_and_run(path)
    assert platform.machine() in str(caught.value)


def test_a_newer_format_is_refused_with_what_to_do(sound: Path, tmp_path: Path, capsys) -> None:
    with ArtifactReader(sound) as reader:
        members = {name: bytes(reader.member(name)) for name in reader.names}
    text = json.loads(members["manifest.json"])
    members["manifest.json"] = json.dumps(text | {"format": text["format"] + 1}).encode()
    path = tmp_path / "newer.cuvil"
    path.write_bytes(container(members))
    with pytest.raises(ArtifactError) as caught:
        open_and_run(path)
    assert "newer" in str(caught.value)
    assert run(["run", str(path)], {"HOME": str(tmp_path)}) != 0
    assert "newer" in capsys.readouterr().err


def container(members: dict[str, bytes]) -> bytes:
    """A file whose checksums fit whatever is in it."""
    layout = plan_layout(Entry(name, len(data), zlib.crc32(data)) for name, data in members.items())
    parts = [header + members[entry.name] for entry, header in zip(layout.entries, layout.headers, strict=True)]
    return b"".join(parts) + layout.tail


def release(artifact: Artifact, folder: Path) -> Path:
    """The program and its weights, as on a device."""
    folder.mkdir(exist_ok=True)
    (folder / "model").write_bytes(artifact.members[artifact.manifest.program_name])
    (folder / "model").chmod(0o755)
    (folder / "weights.bin").write_bytes(artifact.members["weights.bin"])
    return folder


def start_checked(folder: Path) -> Agent:
    """The program, asked to hash its weights before anything runs (installing hashes every file besides)."""
    transport = LocalTransport(home=folder)
    return Agent(transport, transport.start(["./model", "--weights", "weights.bin", "--check-weights"], directory="."))


def test_the_program_refuses_weights_that_are_not_its_own(artifact: Artifact, tmp_path: Path) -> None:
    folder = release(artifact, tmp_path / "device")
    weights = bytearray((folder / "weights.bin").read_bytes())
    start_checked(folder).close()
    source = random.Random(3)
    for position in (0, len(weights) - 1, *(source.randrange(len(weights)) for _ in range(4))):
        weights[position] ^= 1
        (folder / "weights.bin").write_bytes(weights)
        with pytest.raises(ArtifactError, match="weights are damaged"):
            start_checked(folder)
        weights[position] ^= 1


def test_the_program_refuses_weights_of_another_size_unasked(artifact: Artifact, tmp_path: Path) -> None:
    folder = release(artifact, tmp_path / "device")
    weights = (folder / "weights.bin").read_bytes()
    for other in (weights[:-1], weights + b"\0", b""):
        (folder / "weights.bin").write_bytes(other)
        with pytest.raises(ArtifactError):
            Agent.start(LocalTransport(home=folder), ".", threads=1)
    (folder / "weights.bin").unlink()
    with pytest.raises(CuvilError, match=r"weights\.bin"):
        Agent.start(LocalTransport(home=folder), ".", threads=1)


def test_the_program_refuses_inputs_that_do_not_fit(artifact: Artifact, tmp_path: Path) -> None:
    folder = release(artifact, tmp_path / "device")
    (folder / "x.bin").write_bytes(bytes(4 * 3 * 32 * 32))
    with Agent.start(LocalTransport(home=folder), ".", threads=1) as agent:
        for shape in (
            (1, 3, 32, 31),
            (1, 3, 32),
            (2, 3, 32, 32),
            (1, 4, 32, 24),
            (-1, 3, 32, 32),
            (1, 3, 2**40, 2**40),
        ):
            with pytest.raises(CuvilError) as caught:
                agent.run([Tensor("x.bin", shape)], ["y", "r", "z"])
            assert caught.value.what
        for path in ("missing.bin", ".", "/dev/zero", "/proc/self/mem"):
            with pytest.raises(CuvilError):
                agent.run([Tensor(path, (1, 3, 32, 32))], ["y", "r", "z"])
        reply = agent.run([Tensor("x.bin", (1, 3, 32, 32))], ["y", "r", "z"])
        assert reply["output_shapes"] == [[1, 10], [1], [1, 10]]


@pytest.mark.cross
def test_the_program_refuses_an_older_cpu_by_the_features_it_lacks(tmp_path: Path) -> None:
    artifact = cuvil_edge.compile(every_family_model(), board="raspberry-pi-5")
    folder = release(artifact, tmp_path / "device")
    Agent.start(EmulatorTransport(home=folder, cpu="cortex-a76"), ".", threads=1).close()
    with pytest.raises(MissingFeatureError) as caught:
        Agent.start(EmulatorTransport(home=folder, cpu="cortex-a72"), ".", threads=1)
    assert "asimddp" in str(caught.value)


def test_a_damaged_artifact_is_not_installed(sound: Path, tmp_path: Path) -> None:
    home = tmp_path / "device"
    home.mkdir()
    transport = LocalTransport(home=home)
    with ArtifactReader(sound) as reader:
        first = install(transport, reader, root=ROOT)
    current = home / ROOT / "families" / "current"
    before = current.readlink()
    assert first.sha256 in str(before)
    for name, positions in member_positions(sound).items():
        if name.startswith("lib/"):
            continue  # stays here
        # A release that is there already is not sent again: an empty device shows what is sent.
        (tmp_path / name.replace("/", "_")).mkdir()
        other = LocalTransport(home=tmp_path / name.replace("/", "_"))
        with pytest.raises(CuvilError), ArtifactReader(changed(sound, positions[2], tmp_path)) as reader:
            install(other, reader, root=ROOT)
        assert not (other.home / ROOT / "families" / "current").exists()
        assert not list((other.home / ROOT / "families").glob("releases/*")) or name == "manifest.json"
    assert current.readlink() == before


def test_a_wrong_answer_keeps_the_release_before(artifact: Artifact, sound: Path, tmp_path: Path) -> None:
    """An artifact that is whole, but whose code does not compute what its reference says."""
    home = tmp_path / "device"
    home.mkdir()
    transport = LocalTransport(home=home)
    with ArtifactReader(sound) as reader:
        before = install(transport, reader, root=ROOT).sha256
    [case] = artifact.manifest.reference
    wrong = np.frombuffer(artifact.members[case.outputs[0]], np.float32).copy()
    wrong[0] += 2e-3 * np.abs(wrong).max()
    members = {**artifact.members, case.outputs[0]: wrong.tobytes()}
    write_artifact(tmp_path / "wrong.cuvil", artifact.manifest, members)
    with pytest.raises(WrongAnswerError) as caught, ArtifactReader(tmp_path / "wrong.cuvil") as reader:
        install(transport, reader, root=ROOT)
    assert "y" in str(caught.value)
    assert before in str((home / ROOT / "families" / "current").readlink())
