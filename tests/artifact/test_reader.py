"""Reading: every changed, missing or added byte is noticed, and always as an ArtifactError that helps."""

from __future__ import annotations

import hashlib
import json
import os
import random
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from cuvil_edge.artifact.manifest import FORMAT, Manifest
from cuvil_edge.artifact.reader import ArtifactReader
from cuvil_edge.artifact.writer import write_artifact
from cuvil_edge.artifact.zip_layout import Entry, plan_layout
from cuvil_edge.errors import ArtifactError

Change = Callable[[Callable[[bytearray], object]], Path]


def _check(path: Path) -> None:
    with ArtifactReader(path) as reader:
        reader.verify()


def _pack(path: Path, parts: dict[str, bytes]) -> Path:
    layout = plan_layout(Entry(name, len(data), zlib.crc32(data)) for name, data in parts.items())
    chunks = [header + parts[entry.name] for entry, header in zip(layout.entries, layout.headers, strict=True)]
    path.write_bytes(b"".join(chunks) + layout.tail)
    return path


def _parts(path: Path) -> dict[str, bytes]:
    with ArtifactReader(path) as reader:
        return {name: bytes(reader.member(name)) for name in reader.names}


def test_members_are_read_back_aligned(artifact: Path, members: dict[str, bytes]) -> None:
    with ArtifactReader(artifact) as reader:
        reader.verify()
        for name, data in members.items():
            assert reader.member(name) == data
            assert reader.offset(name) % 64 == 0
            assert artifact.read_bytes()[reader.offset(name) :][: len(data)] == data
        assert reader.sha256 == hashlib.sha256(bytes(reader.member("manifest.json"))).hexdigest()


def test_members_cannot_be_written_through_the_view(artifact: Path) -> None:
    with ArtifactReader(artifact) as reader, pytest.raises(TypeError):
        reader.member("weights.bin")[0] = 1


def test_views_stay_valid_after_close(artifact: Path, members: dict[str, bytes]) -> None:
    with ArtifactReader(artifact) as reader:
        view = reader.member("weights.bin")
    reader.close()
    artifact.unlink()
    assert view == members["weights.bin"]


def test_opening_a_thousand_times_leaks_no_descriptor(artifact: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(1000):
        ArtifactReader(artifact).close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_every_cut_is_noticed(artifact: Path, tmp_path: Path) -> None:
    data = artifact.read_bytes()
    cut = tmp_path / "cut.cuvil"
    for size in range(len(data)):
        cut.write_bytes(data[:size])
        with pytest.raises(ArtifactError) as caught:
            ArtifactReader(cut)
        assert str(cut) in str(caught.value)


@pytest.mark.parametrize("bit", [0x01, 0x80])
def test_every_changed_byte_is_noticed(artifact: Path, tmp_path: Path, bit: int) -> None:
    data = bytearray(artifact.read_bytes())
    changed = tmp_path / "changed.cuvil"
    for place in range(len(data)):
        data[place] ^= bit
        changed.write_bytes(data)
        with pytest.raises(ArtifactError):
            _check(changed)
        data[place] ^= bit


@pytest.mark.parametrize("extra", [b"\0", b"PK\5\6" + b"\0" * 18, b"x" * 5000])
def test_added_bytes_are_noticed(changed: Change, extra: bytes) -> None:
    with pytest.raises(ArtifactError):
        _check(changed(lambda data: data.extend(extra)))
    with pytest.raises(ArtifactError):
        _check(changed(lambda data: data.__setitem__(slice(0, 0), extra)))


def test_random_files_are_not_artifacts(tmp_path: Path) -> None:
    rng = random.Random(24)
    for size in (1, 3, 22, 64, 5000):
        for start in (b"", b"PK\3\4", b"PK\5\6"):
            (tmp_path / "r").write_bytes(start + rng.randbytes(size))
            with pytest.raises(ArtifactError):
                ArtifactReader(tmp_path / "r")


def test_an_empty_file_and_another_file_get_helpful_words(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(ArtifactError, match="the file is empty"):
        ArtifactReader(tmp_path / "empty")
    (tmp_path / "model.onnx").write_bytes(b"\x08\x07\x12\x07pytorch" * 10)
    with pytest.raises(ArtifactError, match="cuvil-edge compile MODEL"):
        ArtifactReader(tmp_path / "model.onnx")


def test_files_that_cannot_be_read_do_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("missing", "pipe", "."):
        with pytest.raises(ArtifactError) as caught:
            ArtifactReader(tmp_path / name)
        assert str(tmp_path) in str(caught.value)


def test_a_newer_format_is_named_even_if_its_container_is_not_ours(artifact: Path, tmp_path: Path) -> None:
    parts = _parts(artifact)
    value = json.loads(parts["manifest.json"])
    value["format"] = FORMAT + 1
    parts["manifest.json"] = json.dumps(value).encode()
    _pack(tmp_path / "newer.cuvil", parts)
    with pytest.raises(ArtifactError, match="newer than this cuvil-edge"):
        ArtifactReader(tmp_path / "newer.cuvil")


def test_a_missing_and_an_unlisted_member_are_named(artifact: Path, tmp_path: Path) -> None:
    parts = _parts(artifact)
    without = {name: data for name, data in parts.items() if name != "weights.bin"}
    with pytest.raises(ArtifactError, match=r'the member "weights.bin" is missing'):
        ArtifactReader(_pack(tmp_path / "a", without))
    with pytest.raises(ArtifactError, match=r'the member "lib/evil.so" is not in the manifest'):
        ArtifactReader(_pack(tmp_path / "b", {**parts, "lib/evil.so": b"x"}))
    without = {name: data for name, data in parts.items() if name != "manifest.json"}
    with pytest.raises(ArtifactError, match=r"manifest.json is missing"):
        ArtifactReader(_pack(tmp_path / "c", without))


def test_a_replaced_member_of_the_same_size_does_not_match_its_hash(artifact: Path, tmp_path: Path) -> None:
    parts = _parts(artifact)
    parts["bin/raspberry-pi-5"] = bytes(len(parts["bin/raspberry-pi-5"]))
    path = _pack(tmp_path / "a", parts)
    with ArtifactReader(path) as reader:
        reader.verify(["weights.bin"])
        with pytest.raises(ArtifactError, match=r'"bin/raspberry-pi-5" does not match its hash'):
            reader.verify()
        with pytest.raises(ArtifactError, match="does not match its hash"):
            reader.verify(["bin/raspberry-pi-5"])


def test_a_member_of_another_size_is_named(artifact: Path, tmp_path: Path) -> None:
    parts = _parts(artifact)
    parts["weights.bin"] += b"x"
    with pytest.raises(ArtifactError, match=r'the member "weights.bin" has a wrong size'):
        ArtifactReader(_pack(tmp_path / "a", parts))


def test_every_chunk_of_a_large_member_is_compared(
    manifest: Manifest, tmp_path: Path, members: dict[str, bytes]
) -> None:
    path = tmp_path / "large.cuvil"
    write_artifact(path, manifest, {**members, "weights.bin": bytes(9 << 20)})
    with ArtifactReader(path) as reader:
        start = reader.offset("weights.bin")
        assert len(reader.manifest.members["weights.bin"].chunk_sha256) == 3
    for place in (0, 4 << 20, (9 << 20) - 1):
        with open(path, "r+b") as file:
            file.seek(start + place)
            file.write(b"\1")
        with ArtifactReader(path) as reader, pytest.raises(ArtifactError, match=r"weights\.bin"):
            reader.verify()
        with open(path, "r+b") as file:
            file.seek(start + place)
            file.write(b"\0")
    _check(path)


def test_an_unknown_member_hints_at_the_nearest(artifact: Path) -> None:
    with ArtifactReader(artifact) as reader:
        for ask in (reader.member, reader.offset, lambda name: reader.verify([name])):
            with pytest.raises(ArtifactError, match=r'did you mean "weights.bin"'):
                ask("weight.bin")
