"""All kernel families, found by scanning ``templates/``."""

from __future__ import annotations

from functools import cache

from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.registry import load_plugins


@cache
def templates() -> dict[str, KernelTemplate]:
    """One instance of each family, by its name."""
    plugins = load_plugins("cuvil_edge.kernels.templates", KernelTemplate)
    return {name: plugin() for name, plugin in plugins.items()}


@cache
def candidates(op_name: str) -> tuple[tuple[str, KernelTemplate], ...]:
    """Names and instances of the families that may compute an operation; empty if it has no kernels."""
    return tuple((name, template) for name, template in templates().items() if op_name in template.ops)
