"""Run folders: a new one each time, never over something else, readable again."""

from __future__ import annotations

import pytest

from cuvil_edge.cli._run_folder import check_run_folder, new_run_folder, save_run
from cuvil_edge.errors import UsageError
from cuvil_edge.profile.records import Profile
from tests.cli.conftest import make_profile
from tests.remote.artifacts import make_manifest


def test_folder_can_be_read_again(tmp_path):
    folder = save_run(make_profile(), make_manifest(), tmp_path / "run")
    assert Profile.load(folder) == make_profile()
    assert (folder / "manifest.json").read_bytes() == make_manifest().to_bytes()


def test_default_folders_do_not_meet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = save_run(make_profile(), make_manifest(), None)
    second = save_run(make_profile(), make_manifest(), None)
    assert first != second
    assert first.parent.name == "cuvil-runs"


def test_names_of_models_cannot_leave_the_parent(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert new_run_folder("../../x", "/y").resolve().parent == (tmp_path / "cuvil-runs").resolve()


def test_folder_with_something_else_is_refused(tmp_path):
    (tmp_path / "photo.jpg").write_bytes(b"x")
    with pytest.raises(UsageError, match="something else"):
        check_run_folder(tmp_path)


def test_file_is_refused_and_new_or_earlier_folders_are_not(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="not a folder"):
        check_run_folder(tmp_path / "file")
    check_run_folder(None)
    check_run_folder(tmp_path / "new")
    check_run_folder(save_run(make_profile(), make_manifest(), tmp_path / "run"))


def test_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="cannot write"):
        save_run(make_profile(), make_manifest(), tmp_path / "file" / "run")
