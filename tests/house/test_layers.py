"""The ladder of imports: every package imports lower ones only, and the device side never meets the compile side."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import PACKAGE, ROOT, Import, imports, parse, python_files, relative

HEIGHTS = {
    "errors": 0,
    "units": 0,
    "registry": 0,
    "config": 0,
    "paths": 0,
    "fields": 0,
    "ir": 1,
    "target": 1,
    "artifact": 1,
    "profile": 1,
    "ops": 2,
    "board": 2,
    "runtime": 2,
    "report": 2,
    "frontends": 3,
    "kernels": 3,
    "remote": 3,
    "passes": 4,
    "codegen": 4,
    "compiler": 5,
    "cli": 6,
}
DEVICE_SIDE = {"profile", "runtime", "remote", "report"}
COMPILE_SIDE = {"ir", "ops", "frontends", "kernels", "passes", "codegen", "compiler"}
ONLY_IN = {
    "onnx": "cuvil_edge/frontends/onnx/",
    "paramiko": "cuvil_edge/remote/transports/ssh.py",
}
FILES = [path for path in python_files(PACKAGE) if path != ROOT / PACKAGE / "__init__.py"]


def _part(dotted: str) -> str | None:
    parts = dotted.split(".")
    return parts[1] if parts[0] == PACKAGE and len(parts) > 1 else None


def _home(path: Path) -> str:
    return path.relative_to(ROOT / PACKAGE).parts[0].removesuffix(".py")


def _internal(path: Path) -> list[tuple[Import, str]]:
    found = [(each, _part(each.module)) for each in imports(path)]
    # "from cuvil_edge import __version__" names no package of the ladder.
    return [(each, part) for each, part in found if part is not None and not part.startswith("_")]


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_imports_go_down_the_ladder(path: Path) -> None:
    home = _home(path)
    assert home in HEIGHTS, f"{relative(path)}: give {home} a height in {relative(Path(__file__))}"
    for each, part in _internal(path):
        if part in HEIGHTS and part != home:
            assert HEIGHTS[part] < HEIGHTS[home] or HEIGHTS[home] == 0, (
                f"{each}: {home} (height {HEIGHTS[home]}) may not know {part} (height {HEIGHTS[part]}); "
                "move the shared thing to a lower package, or hand it in as an argument from above"
            )


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_the_device_side_and_the_compile_side_do_not_meet(path: Path) -> None:
    home = _home(path)
    other = COMPILE_SIDE if home in DEVICE_SIDE else DEVICE_SIDE if home in COMPILE_SIDE else set()
    for each, part in _internal(path):
        assert part not in other, f"{each}: what must cross is a function that is handed in from above"


@pytest.mark.parametrize("path", python_files(PACKAGE), ids=relative)
def test_heavy_packages_are_imported_in_one_place(path: Path) -> None:
    for each in imports(path):
        place = ONLY_IN.get(each.module.split(".")[0])
        assert place is None or each.is_for_types or relative(path).startswith(place), f"{each}: only {place} may"


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_only_the_command_line_prints_and_reads_the_environment(path: Path) -> None:
    if _home(path) in ("cli", "config"):
        return
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            pytest.fail(
                f"{relative(path)}:{node.lineno} prints: return the text, or take a function to report progress"
            )
        if isinstance(node, ast.Attribute) and node.attr in ("getenv", "putenv"):
            pytest.fail(f"{relative(path)}:{node.lineno} reads the environment: take a Config")


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = ("onnx", "paramiko", "ziglang", "numpy", "google.protobuf")
    code = f"import sys, cuvil_edge; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]", "load it where it is used, through the package's __getattr__"


def test_public_names_are_listed() -> None:
    package = __import__(PACKAGE)
    assert package.__version__
    assert set(package.__all__) <= set(dir(package)) | set(package.__all__)
