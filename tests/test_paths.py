"""Paths: data is found in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuvil_edge import paths


@pytest.mark.parametrize("name", ["csrc", "targets", "boards"])
def test_data_folders_exist(name: str) -> None:
    assert paths.data_dir(name).is_dir()


def test_a_wheel_carries_its_data_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pkg" / "data" / "boards").mkdir(parents=True)
    monkeypatch.setattr(paths, "_PACKAGE", tmp_path / "pkg")
    monkeypatch.setattr(paths, "_INSTALLED_DATA", tmp_path / "pkg" / "data")
    assert paths.data_dir("boards") == tmp_path / "pkg" / "data" / "boards"
    assert paths.data_dir("targets") == tmp_path / "targets"
