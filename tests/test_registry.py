"""Plug-ins: found by scanning, and a file that is not a plug-in is named."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuvil_edge.registry import load_plugin, load_plugins, plugin_names

BASE = "class Base:\n    pass\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    name = f"plugins_{abs(hash(tmp_path))}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "_base.py").write_text(BASE)
    (folder / "beta.py").write_text(f"from {name}._base import Base\nclass Beta(Base):\n    pass\n")
    (folder / "alpha.py").write_text(
        f"from {name}._base import Base\nfrom {name}.beta import Beta\nclass Alpha(Base):\n    pass\n"
        "class _Hidden(Base):\n    pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield name
    for module in [module for module in sys.modules if module.split(".")[0] == name]:
        del sys.modules[module]
    plugin_names.cache_clear()
    load_plugins.cache_clear()


def _base(package: str) -> type:
    module = __import__(f"{package}._base", fromlist=["Base"])
    return module.Base  # type: ignore[no-any-return]


def test_plugins_are_found_in_order_without_private_modules(package: str) -> None:
    assert plugin_names(package) == ("alpha", "beta")


def test_imported_and_private_classes_are_not_the_plugin(package: str) -> None:
    plugins = load_plugins(package, _base(package))
    assert {name: plugin.__name__ for name, plugin in plugins.items()} == {"alpha": "Alpha", "beta": "Beta"}


@pytest.mark.parametrize("body", ["", "class One(Base):\n    pass\nclass Two(Base):\n    pass\n"])
def test_a_file_without_exactly_one_plugin_is_named(package: str, tmp_path: Path, body: str) -> None:
    (tmp_path / package / "gamma.py").write_text(f"from {package}._base import Base\n{body}")
    with pytest.raises(TypeError, match=r"gamma: expected one public subclass of Base, found [02]"):
        load_plugin(package, "gamma", _base(package))
