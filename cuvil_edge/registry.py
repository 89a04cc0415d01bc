"""Plug-ins found by scanning a package: one file is one thing, its file name is its name.

A plug-in module holds exactly one public class that derives from the family's base class. Adding a thing is adding a
file; no list is edited.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache
from typing import TypeVar

T = TypeVar("T")


@cache
def plugin_names(package: str) -> tuple[str, ...]:
    """Names of the plug-in modules of ``package`` (sorted; modules that start with ``_`` are not plug-ins)."""
    module = importlib.import_module(package)
    return tuple(sorted(info.name for info in pkgutil.iter_modules(module.__path__) if not info.name.startswith("_")))


@cache
def load_plugins(package: str, base: type[T]) -> dict[str, type[T]]:
    """All plug-in classes of ``package`` by file name; a file without exactly one of them is a programming error."""
    return {name: load_plugin(package, name, base) for name in plugin_names(package)}


def load_plugin(package: str, name: str, base: type[T]) -> type[T]:
    """The one public subclass of ``base`` in module ``package.name``."""
    module = importlib.import_module(f"{package}.{name}")
    found = [
        value
        for key, value in vars(module).items()
        if inspect.isclass(value)
        and issubclass(value, base)
        and value.__module__ == module.__name__
        and not key.startswith("_")
    ]
    if len(found) != 1:
        raise TypeError(f"{module.__name__}: expected one public subclass of {base.__name__}, found {len(found)}")
    return found[0]
