"""Data files: a name cannot lead out of its folder, and a broken file is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuvil_edge.errors import ConfigError
from cuvil_edge.target.data import data_names, load_data, read_toml


@pytest.mark.parametrize("name", ["../boards/rk3568", "/etc/passwd", "", ".", "scalar.toml", "scalar\0"])
def test_names_that_are_paths_are_unknown(name: str) -> None:
    with pytest.raises(ConfigError, match="there is no such instruction set"):
        load_data(name, "targets", "isa", kind="instruction set")


def test_names_are_sorted_and_without_suffix() -> None:
    names = data_names("targets", "isa")
    assert list(names) == sorted(names)
    assert "scalar" in names


@pytest.mark.parametrize(
    ("text", "found"), [(b"a = 1\nb = x\n", "line 2"), (b"\xff", "utf-8"), (b"a = 1\na = 2\n", "line 2")]
)
def test_a_broken_file_is_named(tmp_path: Path, text: bytes, found: str) -> None:
    (tmp_path / "x.toml").write_bytes(text)
    with pytest.raises(ConfigError, match=f"boards/x.toml: is not valid TOML(.|\n)*{found}"):
        read_toml(tmp_path / "x.toml", "boards/x.toml")


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(ConfigError, match=r"boards/x\.toml: cannot be read"):
            read_toml(path, "boards/x.toml")
