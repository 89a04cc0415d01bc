"""Risk: a family that does not say what it refuses, costs or does can be loaded all the same."""

from __future__ import annotations

import pytest

from cuvil_edge.kernels.catalogue import templates
from cuvil_edge.kernels.template import KernelTemplate


@pytest.mark.parametrize("missing", ["refuse", "cost", "lower"])
def test_a_family_has_all_three_answers(missing: str) -> None:
    answers = {name: lambda self, node, target: None for name in ("refuse", "cost", "lower") if name != missing}
    incomplete = type("Incomplete", (KernelTemplate,), answers)
    with pytest.raises(TypeError, match=missing):
        incomplete()


def test_families_have_no_state() -> None:
    assert all(not vars(template) for template in templates().values())
