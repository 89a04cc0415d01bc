"""Loading the data files below ``targets/`` and ``boards/``: TOML, with errors that name the file and the key."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

from cuvil_edge.errors import ConfigError
from cuvil_edge.fields import Fields, nearest_hint
from cuvil_edge.paths import data_dir


def data_names(*folders: str) -> tuple[str, ...]:
    """Names (without ``.toml``) of the data files in a folder such as ``data_names("targets", "isa")``, sorted."""
    return tuple(sorted(path.name.removesuffix(".toml") for path in _folder(folders).glob("*.toml")))


def load_data(name: str, *folders: str, kind: str) -> Fields:
    """The file ``<folders>/<name>.toml``; an unknown name raises ConfigError with the nearest known one.

    Args:
        name: the file's name without ``.toml``.
        folders: the path of the folder from the project's root.
        kind: what such a file describes, for the message ("board").
    """
    names = data_names(*folders)
    if name not in names:
        raise unknown_name(name, names, kind)
    return read_toml(_folder(folders) / f"{name}.toml", "/".join((*folders, f"{name}.toml")))


def unknown_name(name: str, names: Iterable[str], kind: str) -> ConfigError:
    """The error for a name that is not among ``names``."""
    known = list(names)
    return ConfigError(
        f"there is no such {kind}", thing=name, expected="one of " + ", ".join(known), hint=nearest_hint(name, known)
    )


def read_toml(path: Path, source: str) -> Fields:
    """The top table of a TOML file; raises ConfigError if it cannot be read, naming ``source`` and the line."""
    try:
        return Fields(tomllib.loads(path.read_bytes().decode("utf-8")), source)
    except OSError as error:
        raise ConfigError("cannot be read", thing=source, found=error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError("is not valid TOML", thing=source, found=str(error)) from None


def _folder(folders: tuple[str, ...]) -> Path:
    return data_dir(folders[0]).joinpath(*folders[1:])
