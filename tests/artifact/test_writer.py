"""Writing: the same bytes each time, all or nothing, and nothing left behind."""

from __future__ import annotations

import dataclasses
import errno
import io
import os
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from cuvil_edge.artifact import writer
from cuvil_edge.artifact.manifest import Manifest
from cuvil_edge.artifact.reader import ArtifactReader
from cuvil_edge.artifact.writer import write_artifact
from cuvil_edge.errors import ArtifactError, DiskFullError


def test_equal_input_gives_equal_bytes_in_any_order(manifest: Manifest, members: dict[str, bytes]) -> None:
    first, second = io.BytesIO(), io.BytesIO()
    write_artifact(first, manifest, members)
    write_artifact(second, manifest, dict(reversed(members.items())))
    assert first.getvalue() == second.getvalue()


def test_the_bytes_do_not_depend_on_clock_place_or_user(
    manifest: Manifest, tmp_path: Path, members: dict[str, bytes]
) -> None:
    write_artifact(tmp_path / "a.cuvil", manifest, members)
    before = os.umask(0o077)
    try:
        (tmp_path / "deep").mkdir()
        write_artifact(tmp_path / "deep" / "b.cuvil", manifest, members)
    finally:
        os.umask(before)
    assert (tmp_path / "a.cuvil").read_bytes() == (tmp_path / "deep" / "b.cuvil").read_bytes()


def test_the_returned_manifest_is_the_written_one(
    manifest: Manifest, tmp_path: Path, members: dict[str, bytes]
) -> None:
    written = write_artifact(tmp_path / "a.cuvil", manifest, members)
    with ArtifactReader(tmp_path / "a.cuvil") as reader:
        assert reader.manifest == written
        assert reader.sha256 == written.sha256()


def test_manifest_stands_first_and_all_are_stored(
    manifest: Manifest, tmp_path: Path, members: dict[str, bytes]
) -> None:
    write_artifact(tmp_path / "a.cuvil", manifest, members)
    with zipfile.ZipFile(tmp_path / "a.cuvil") as archive:
        assert archive.namelist()[0] == "manifest.json"
        assert sorted(archive.namelist()[1:]) == sorted(members)


def test_permissions_follow_the_umask(manifest: Manifest, tmp_path: Path, members: dict[str, bytes]) -> None:
    before = os.umask(0o027)
    try:
        write_artifact(tmp_path / "a.cuvil", manifest, members)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.cuvil").stat().st_mode) == 0o640


def test_a_link_is_followed_and_stays_a_link(manifest: Manifest, tmp_path: Path, members: dict[str, bytes]) -> None:
    (tmp_path / "link.cuvil").symlink_to("real.cuvil")
    write_artifact(tmp_path / "link.cuvil", manifest, members)
    assert (tmp_path / "link.cuvil").is_symlink()
    assert (tmp_path / "real.cuvil").is_file()


def test_bytes_like_members_are_written(manifest: Manifest, members: dict[str, bytes]) -> None:
    data: dict[str, Any] = {**members, "weights.bin": memoryview(bytearray(8)).cast("I")}
    file = io.BytesIO()
    assert write_artifact(file, manifest, data).members["weights.bin"].bytes == 8


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "a\\b", "manifest.json", ""])
def test_member_names_that_are_refused(
    manifest: Manifest, name: str, tmp_path: Path, members: dict[str, bytes]
) -> None:
    with pytest.raises(ArtifactError):
        write_artifact(tmp_path / "a.cuvil", manifest, {**members, name: b""})
    assert list(tmp_path.iterdir()) == []


def test_a_manifest_that_no_reader_accepts_is_not_written(manifest: Manifest, tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="reference/random"):
        write_artifact(tmp_path / "a.cuvil", manifest, {"weights.bin": b""})
    assert list(tmp_path.iterdir()) == []


class _FailingFile(io.RawIOBase):
    def __init__(self, inner: Any, after_bytes: int, code: int) -> None:
        self.inner, self.left, self.code = inner, after_bytes, code

    def write(self, data: Any) -> int:
        if len(data) > self.left:
            self.inner.write(data[: self.left])
            raise OSError(self.code, os.strerror(self.code))
        self.left -= len(data)
        return int(self.inner.write(data))

    def close(self) -> None:
        self.inner.close()


@pytest.mark.parametrize("after_bytes", [0, 1, 100, 3000])
@pytest.mark.parametrize(
    ("code", "kind"), [(errno.ENOSPC, DiskFullError), (errno.EDQUOT, DiskFullError), (errno.EIO, ArtifactError)]
)
def test_a_failing_write_leaves_the_old_artifact_and_nothing_else(
    manifest: Manifest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    after_bytes: int,
    code: int,
    kind: type,
    members: dict[str, bytes],
) -> None:
    path = tmp_path / "a.cuvil"
    path.write_bytes(b"old")

    def failing_open(*arguments: Any, **options: Any) -> Any:
        return _FailingFile(open(*arguments, **options), after_bytes, code)

    monkeypatch.setattr(writer, "open", failing_open, raising=False)
    with pytest.raises(kind) as caught:
        write_artifact(path, manifest, members)
    assert str(path) in str(caught.value)
    assert [each.name for each in tmp_path.iterdir()] == ["a.cuvil"]
    assert path.read_bytes() == b"old"


def test_a_short_write_is_continued(manifest: Manifest, members: dict[str, bytes]) -> None:
    class Trickle(io.BytesIO):
        def write(self, data: Any) -> int:
            return super().write(bytes(data)[:7])

    slow, fast = Trickle(), io.BytesIO()
    write_artifact(slow, manifest, members)
    write_artifact(fast, manifest, members)
    assert slow.getvalue() == fast.getvalue()


def test_a_limit_on_file_sizes_is_a_full_disk(manifest: Manifest, tmp_path: Path, project_root: Path) -> None:
    code = (
        "import resource, signal, sys\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from cuvil_edge.artifact.manifest import Manifest\n"
        "from cuvil_edge.artifact.writer import write_artifact\n"
        "from cuvil_edge.errors import DiskFullError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))\n"
        "try:\n"
        "    manifest = Manifest.from_bytes(sys.stdin.buffer.read())\n"
        "    write_artifact(sys.argv[1], manifest, {'weights.bin': bytes(1 << 20)})\n"
        "except DiskFullError:\n"
        "    sys.exit(42)\n"
    )
    text = dataclasses.replace(manifest, reference=()).to_bytes()
    arguments = [sys.executable, "-c", code, str(tmp_path / "a.cuvil"), str(project_root)]
    done = subprocess.run(arguments, input=text, timeout=60, check=False)
    assert done.returncode == 42
    assert list(tmp_path.iterdir()) == []


@pytest.mark.root
def test_a_full_disk_leaves_nothing(manifest: Manifest, tmp_path: Path, members: dict[str, bytes]) -> None:
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)], capture_output=True, timeout=30, check=False
    )
    if mount.returncode != 0:
        pytest.skip("this machine does not allow mounts")
    try:
        with pytest.raises(DiskFullError) as caught:
            write_artifact(tmp_path / "a.cuvil", manifest, {**members, "weights.bin": bytes(1 << 20)})
        assert "free" in str(caught.value.expected)
        assert list(tmp_path.iterdir()) == []
    finally:
        subprocess.run(["umount", str(tmp_path)], timeout=30, check=True)


def test_places_that_cannot_be_written(manifest: Manifest, tmp_path: Path, members: dict[str, bytes]) -> None:
    for path in (tmp_path, tmp_path / "no" / "such" / "a.cuvil", Path("/dev/null")):
        with pytest.raises(ArtifactError) as caught:
            write_artifact(path, manifest, members)
        assert str(path) in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    assert Path("/dev/null").is_char_device()
