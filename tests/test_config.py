"""Settings: where a user's files go, from the environment and from nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cuvil_edge.config import Config


def test_defaults_follow_the_xdg_folders() -> None:
    config = Config.from_environment({"HOME": "/h"})
    assert config.cache_dir == Path("/h/.cache/cuvil-edge")
    assert config.config_dir == Path("/h/.config/cuvil-edge")


def test_xdg_folders_move_both() -> None:
    config = Config.from_environment({"HOME": "/h", "XDG_CACHE_HOME": "/c", "XDG_CONFIG_HOME": "/d"})
    assert (config.cache_dir, config.config_dir) == (Path("/c/cuvil-edge"), Path("/d/cuvil-edge"))


def test_own_variables_win() -> None:
    environment = {"HOME": "/h", "XDG_CACHE_HOME": "/c", "CUVIL_CACHE_DIR": "/mine", "CUVIL_CONFIG_DIR": "/conf"}
    config = Config.from_environment(environment)
    assert (config.cache_dir, config.config_dir) == (Path("/mine"), Path("/conf"))


@pytest.mark.parametrize(("text", "jobs"), [("", 0), ("3", 3), ("-1", 0), ("many", 0)])
def test_jobs_that_are_no_number_mean_the_default(text: str, jobs: int) -> None:
    assert Config.from_environment({"HOME": "/h", "CUVIL_JOBS": text}).jobs == jobs


def test_empty_variables_are_as_if_unset() -> None:
    config = Config.from_environment({"HOME": "/h", "XDG_CACHE_HOME": "", "CUVIL_CACHE_DIR": ""})
    assert config.cache_dir == Path("/h/.cache/cuvil-edge")


def test_job_count_is_that_of_the_usable_cpus() -> None:
    assert Config(Path("/c"), Path("/d")).job_count == len(os.sched_getaffinity(0))
    assert Config(Path("/c"), Path("/d"), jobs=7).job_count == 7
