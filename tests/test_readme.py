"""Risk: the README or HACKING names a command, a flag, a file, a board or a function that does not exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import cuvil_edge
from cuvil_edge.board.board import board_names
from cuvil_edge.cli._main import build_parser, command_names
from cuvil_edge.report.render import format_names

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
HACKING = (ROOT / "HACKING.md").read_text(encoding="utf-8")
MOST_PICTURE_BYTES = 250_000


def command_lines() -> list[str]:
    """Every line of a README's shell block that starts with ``cuvil-edge``."""
    blocks = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    lines = [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("cuvil-edge ")]


@pytest.mark.parametrize("line", command_lines())
def test_every_command_line_can_be_parsed(line: str) -> None:
    arguments = shlex.split(line)[1:]
    build_parser(arguments).parse_args(arguments)


def test_every_command_is_shown() -> None:
    assert {line.split()[1] for line in command_lines()} == set(command_names())


def test_every_report_format_is_named() -> None:
    line = next(line for line in README.splitlines() if line.startswith("cuvil-edge report  run-folder"))
    assert set(format_names()) <= set(line.partition("#")[2].split())


@pytest.mark.parametrize("flag", sorted(set(re.findall(r"`(--[a-z-]+)", README))))
def test_every_flag_exists(flag: str) -> None:
    sources = [*(ROOT / "cuvil_edge/cli").glob("*.py"), ROOT / "scripts/quickstart", ROOT / "scripts/test"]
    assert any(flag in source.read_text(encoding="utf-8") for source in sources)


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_every_link_leads_somewhere(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"\b((?:scripts|csrc|cuvil_edge|targets|boards|tests)/[\w./]*\w)", HACKING)))
)
def test_every_path_of_the_map_exists(path: str) -> None:
    """Paths with a place to fill in (``ops/<name>.py``) are checked up to it."""
    assert (ROOT / path).exists()


def test_scripts_can_be_started() -> None:
    for name in re.findall(r"\bscripts/(\w+)", README):
        assert (ROOT / "scripts" / name).stat().st_mode & 0o111


def test_board_table_is_complete() -> None:
    rows = re.findall(r"^\| ([a-z0-9-]+) \|", README, re.MULTILINE)
    assert [row for row in rows if row != "board"] == list(board_names())


def test_python_names_exist() -> None:
    for name in re.findall(r"cuvil_edge\.(\w+)\(", README):
        assert name in cuvil_edge.__all__
    for name in re.findall(r"context\.(\w+)", README):
        assert hasattr(cuvil_edge.InferenceContext, name)


def test_transcript_is_a_whole_run() -> None:
    transcript = README.split("<!-- transcript: scripts/quickstart -->")[1].split("```")[1]
    for words in ("3/6", "6/6", "is installed on", "% sure"):
        assert words in transcript


def test_picture_is_small() -> None:
    assert 0 < (ROOT / ".github" / "report.png").stat().st_size <= MOST_PICTURE_BYTES


def test_ci_runs_the_test_command_of_the_readme() -> None:
    assert "scripts/test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
