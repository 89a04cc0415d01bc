"""Where the project's data lives: the only module that knows whether this is a checkout or an installed wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED_DATA = _PACKAGE / "data"


def data_dir(name: str) -> Path:
    """The folder ``csrc``, ``targets`` or ``boards``: beside the package in a checkout, inside it in a wheel."""
    installed = _INSTALLED_DATA / name
    return installed if installed.is_dir() else _PACKAGE.parent / name
