"""Risks: half an object is served, a full disk leaves a trap behind, the cache grows without end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cuvil_edge.codegen.object_cache import ObjectCache
from cuvil_edge.errors import CompileError


def test_an_entry_is_made_once(tmp_path: Path) -> None:
    cache, calls = ObjectCache(tmp_path, 1 << 20), []

    def make(path: Path) -> None:
        calls.append(path)
        path.write_bytes(b"object")

    assert cache.get_or_make("abcd", make).read_bytes() == b"object"
    assert cache.get_or_make("abcd", make).read_bytes() == b"object"
    assert len(calls) == 1


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path, 1 << 20)

    def fail(path: Path) -> None:
        path.write_bytes(b"half")
        raise CompileError("no")

    with pytest.raises(CompileError):
        cache.get_or_make("abcd", fail)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_an_empty_entry_is_made_again(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path, 1 << 20)
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / "abcd.o").touch()
    assert cache.get_or_make("abcd", lambda path: path.write_bytes(b"x") and None).read_bytes() == b"x"


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("not a folder")
    with pytest.raises(CompileError, match="cannot write compiled objects") as caught:
        ObjectCache(blocker, 1).get_or_make("abcd", lambda path: None)
    assert "CUVIL_CACHE_DIR" in (caught.value.hint or "")


def test_trim_removes_the_oldest_first(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path, 250)
    for age, key in enumerate(("aaaa", "bbbb", "cccc")):
        path = cache.get_or_make(key, lambda out: out.write_bytes(b"x" * 100) and None)
        os.utime(path, (age, age))
    assert cache.trim() == 1
    assert sorted(path.stem for path in tmp_path.glob("*/*")) == ["bbbb", "cccc"]
