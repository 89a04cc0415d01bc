"""The machine as the runtime sees it; `uname` is the oracle."""

from __future__ import annotations

import platform

import pytest

from cuvil_edge.errors import IncompatibleError
from cuvil_edge.runtime.cpu import architecture, check_machine, cpu_features
from tests.runtime.conftest import make_manifest


def test_architecture_is_that_of_uname() -> None:
    assert architecture() == platform.machine()
    assert cpu_features()


def test_check_machine_names_the_artifact() -> None:
    manifest = make_manifest()
    check_machine(manifest, "m.cuvil")
    target = type(manifest.target)(**{**vars(manifest.target), "arch": "riscv64"})
    with pytest.raises(IncompatibleError, match=r"m\.cuvil"):
        check_machine(type(manifest)(**{**vars(manifest), "target": target}), "m.cuvil")
