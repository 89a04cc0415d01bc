"""Risk: a missing browser or page ends in a traceback, or a picture is written that is none."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cuvil_edge.report.build import build_report
from cuvil_edge.report.render import write_report
from tests.report.samples import make_profile

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "report_picture"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=180)


def test_missing_page(tmp_path: Path) -> None:
    result = run(tmp_path / "none.html", tmp_path / "x.png")
    assert result.returncode == 2
    assert "no such file" in result.stderr


def test_missing_browser_says_how_to_get_one(tmp_path: Path) -> None:
    page = write_report(build_report(make_profile()), "html", tmp_path)
    result = run(page, tmp_path / "x.png", "--browser", "no-such-browser")
    assert result.returncode == 3
    assert "apt-get install" in result.stderr


def test_failing_browser(tmp_path: Path) -> None:
    page = write_report(build_report(make_profile()), "html", tmp_path)
    result = run(page, tmp_path / "x.png", "--browser", shutil.which("false") or "false")
    assert result.returncode == 1
    assert "exit status 1" in result.stderr
    assert not (tmp_path / "x.png").exists()


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium")
def test_picture_has_the_size_that_was_asked_for(tmp_path: Path) -> None:
    page = write_report(build_report(make_profile()), "html", tmp_path)
    result = run(page, tmp_path / "x.png", "--width", "800", "--height", "600")
    assert result.returncode == 0, result.stderr
    content = (tmp_path / "x.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert (int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")) == (800, 600)
