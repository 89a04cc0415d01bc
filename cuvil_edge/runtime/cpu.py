"""This machine's CPU, without /proc and /sys, and whether an artifact can run on it."""

from __future__ import annotations

from cuvil_edge import _runtime
from cuvil_edge.artifact.manifest import Manifest
from cuvil_edge.runtime.failures import translated


def architecture() -> str:
    """The architecture, as ``uname -m`` prints it."""
    return _runtime.ARCHITECTURE


def cpu_features() -> tuple[str, ...]:
    """Features that the CPU has and the operating system has enabled, named as in /proc/cpuinfo."""
    return tuple(_runtime.cpu_features())


def check_machine(manifest: Manifest, thing: str) -> None:
    """Raises IncompatibleError, naming the architecture or the missing features, when this machine cannot run it."""
    with translated():
        _runtime.check_cpu(manifest.target.arch, manifest.target.required_features, thing)
