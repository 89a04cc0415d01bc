"""The tree: what may stand at its top and in git, and a test module for every module."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from tests.house.tree import PACKAGE, PLUGIN_FOLDERS, ROOT, TABLE_FOLDERS, python_files, relative, tracked_files

TOP = {
    ".ci",
    ".clang-format",
    ".clang-tidy",
    ".github",
    ".gitignore",
    "CHANGELOG.md",
    "CMakeLists.txt",
    "HACKING.md",
    "LICENSE",
    "README.md",
    "boards",
    "csrc",
    "cuvil_edge",
    "docs",
    "pyproject.toml",
    "scripts",
    "targets",
    "tests",
}
BUILT = {
    ".a",
    ".cuvil",
    ".dll",
    ".dylib",
    ".exe",
    ".lib",
    ".npy",
    ".npz",
    ".o",
    ".onnx",
    ".pyc",
    ".pyo",
    ".so",
    ".tflite",
    ".whl",
}
PICTURES = {".gif", ".jpg", ".png", ".webp"}
FILE_BYTES = 1 << 20
UNTESTED = Path(__file__).with_name("untested.txt")


def _tracked() -> tuple[str, ...]:
    files = tracked_files()
    if files is None:
        pytest.skip("not a git checkout")
    return files


def test_the_top_of_the_tree() -> None:
    extra = {name.split("/")[0] for name in _tracked()} - TOP
    assert not extra, f"{sorted(extra)}: each has a place in a folder, or a line in {relative(Path(__file__))}"


def test_nothing_that_is_built_is_in_git() -> None:
    built = [name for name in _tracked() if Path(name).suffix in BUILT or "__pycache__" in name]
    assert not built, f"{built}: git rm --cached, and a line in .gitignore"


def test_binary_and_large_files_are_pictures_or_test_data() -> None:
    for name in _tracked():
        path = ROOT / name
        if not path.is_file():
            continue
        assert path.stat().st_size <= FILE_BYTES, f"{name} has more than {FILE_BYTES} bytes: make it when it is needed"
        is_data = name.startswith("tests/") and "/data/" in name
        if path.suffix not in PICTURES and not is_data:
            assert b"\0" not in path.read_bytes(), f"{name} is binary: only pictures and tests/**/data/ may be"


def _mirror(path: Path) -> Path:
    parts = path.relative_to(ROOT / PACKAGE)
    return ROOT / "tests" / parts.parent / f"test_{path.stem}.py"


def _needs_mirror(path: Path) -> bool:
    parts = path.relative_to(ROOT / PACKAGE)
    is_plugin = parts.parent.as_posix() in (*PLUGIN_FOLDERS, *TABLE_FOLDERS)
    return not path.stem.startswith("_") and not is_plugin and _mirror(path).parent.is_dir()


def test_every_module_has_a_test_module() -> None:
    """Plug-ins are tested by the harness of their family; modules that start with _ by those that use them."""
    lines = UNTESTED.read_text(encoding="utf-8").splitlines() if UNTESTED.exists() else []
    known = {line for line in lines if line and not line.startswith("#")}
    missing = {relative(path) for path in python_files(PACKAGE) if _needs_mirror(path) and not _mirror(path).is_file()}
    if (tracked := tracked_files()) is not None:
        missing &= set(tracked)
    for name in sorted(known - missing):
        warnings.warn(f"{name} has its test module now: take it out of {relative(UNTESTED)}", stacklevel=1)
    new = sorted(missing - known)
    assert not new, "write " + ", ".join(relative(_mirror(ROOT / name)) for name in new)
