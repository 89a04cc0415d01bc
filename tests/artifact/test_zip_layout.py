"""The container: readable by any zip program, aligned, and right beyond 4 GiB."""

from __future__ import annotations

import io
import shutil
import subprocess
import zipfile
import zlib
from pathlib import Path

import pytest

from cuvil_edge.artifact import zip_layout
from cuvil_edge.artifact.zip_layout import Entry, check_layout, parse_directory, plan_layout
from cuvil_edge.errors import ArtifactError

DATA = {"manifest.json": b"{}", "bin/x": b"program", "ü/empty": b"", "weights.bin": b"w" * 300}


def _assemble(data: dict[str, bytes]) -> bytes:
    layout = plan_layout(Entry(name, len(value), zlib.crc32(value)) for name, value in data.items())
    parts = [header + data[entry.name] for entry, header in zip(layout.entries, layout.headers, strict=True)]
    whole = b"".join(parts) + layout.tail
    assert len(whole) == layout.file_bytes
    return whole


def test_python_reads_it() -> None:
    with zipfile.ZipFile(io.BytesIO(_assemble(DATA))) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == DATA
        assert all(info.compress_type == zipfile.ZIP_STORED for info in archive.infolist())
        assert archive.getinfo("bin/x").external_attr >> 16 == 0o100755


@pytest.mark.skipif(shutil.which("unzip") is None, reason="needs unzip")
def test_unzip_reads_it(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(_assemble(DATA))
    done = subprocess.run(
        ["unzip", "-t", "a.zip"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_data_is_aligned_and_found_again() -> None:
    view = memoryview(_assemble(DATA))
    entries = parse_directory(view, "x.cuvil")
    assert [entry.name for entry in entries] == list(DATA)
    for entry in entries:
        assert entry.offset % 64 == 0
        assert view[entry.offset : entry.offset + entry.size] == DATA[entry.name]
    check_layout(view, entries, "x.cuvil")


@pytest.mark.parametrize("limit", [1, 5, 100, 400])
def test_records_for_large_files(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_layout, "ZIP64_LIMIT", limit)
    whole = _assemble(DATA)
    entries = parse_directory(memoryview(whole), "x.cuvil")
    check_layout(memoryview(whole), entries, "x.cuvil")
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == DATA


def test_the_layout_of_files_beyond_4_gib() -> None:
    layout = plan_layout([Entry("weights.bin", 5 << 30, 1), Entry("bin/x", 10, 2)])
    assert layout.entries[1].offset > 5 << 30
    assert layout.entries[1].offset % 64 == 0
    assert b"PK\6\6" in layout.tail
    assert layout.file_bytes == layout.entries[1].offset + 10 + len(layout.tail)


def _foreign(compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, value in DATA.items():
            archive.writestr(name, value)
    return buffer.getvalue()


def test_other_zip_files_are_refused() -> None:
    with pytest.raises(ArtifactError, match="is compressed"):
        parse_directory(memoryview(_foreign(zipfile.ZIP_DEFLATED)), "x.cuvil")
    view = memoryview(_foreign())
    entries = parse_directory(view, "x.cuvil")
    with pytest.raises(ArtifactError, match="damaged"):
        check_layout(view, entries, "x.cuvil")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_same_name_twice_is_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a", b"1")
        archive.writestr("a", b"2")
    with pytest.raises(ArtifactError, match="damaged") as caught:
        parse_directory(memoryview(buffer.getvalue()), "x.cuvil")
    assert caught.value.found == 'the member "a" is there twice'


def test_members_that_overlap_are_refused() -> None:
    whole = bytearray(_assemble({"a": b"1" * 64, "b": b"2" * 64}))
    second = whole.index(b"PK\1\2", whole.index(b"PK\1\2") + 1)
    whole[second + 42 : second + 46] = (0).to_bytes(4, "little")
    entries = parse_directory(memoryview(whole), "x.cuvil")
    with pytest.raises(ArtifactError, match="damaged"):
        check_layout(memoryview(whole), entries, "x.cuvil")


@pytest.mark.parametrize("size", [2**32 - 2, 10_000])
def test_a_member_beyond_the_file_is_refused(size: int) -> None:
    whole = bytearray(_assemble({"a": b"1" * 64}))
    place = whole.index(b"PK\1\2")
    whole[place + 20 : place + 28] = size.to_bytes(4, "little") * 2
    with pytest.raises(ArtifactError) as caught:
        parse_directory(memoryview(whole), "x.cuvil")
    assert caught.value.found == 'the member "a" lies outside the file'
