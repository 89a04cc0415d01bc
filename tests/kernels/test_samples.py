"""Every operation's samples, run by the kernels of every instruction set and compared with the operation's reference.

Each case runs with its work in one, two and three parts, in buffers that end at inaccessible memory.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cuvil_edge.ir.op import Sample
from cuvil_edge.kernels.kernel import KernelCall
from cuvil_edge.ops._elementwise import Elementwise
from tests.kernels.harness import Build, Case, lowered, run_cases, samples_of, uses_vectors


def _require_no(failures: list[str]) -> None:
    assert not failures, f"{len(failures)} failures:\n" + "\n".join(failures[:40])


def test_samples_agree_with_the_references(widest: Build) -> None:
    cases, refusals = lowered(samples_of(), widest)
    assert len(cases) > 900
    assert len(refusals) < len(cases) / 20, "\n".join(refusals)
    _require_no(run_cases(widest, cases)[0])


def test_every_instruction_set_gives_the_same_answers(native: Build) -> None:
    samples = [(name, sample) for name, sample in _few_for_each_operation(samples_of()) if uses_vectors(sample)]
    _require_no(run_cases(native, lowered(samples, native)[0])[0])


def test_symbolic_extents_give_the_same_answers(widest: Build) -> None:
    cases, _ = lowered(samples_of(), widest, symbolic=True)
    assert sum(not isinstance(extent, int) for case in cases for call in case.calls for extent in call.extents) > 900
    _require_no(run_cases(widest, cases)[0])


def _few_for_each_operation(samples: list[tuple[str, Sample]]) -> list[tuple[str, Sample]]:
    """All samples of operations with loops of their own; of element-wise ones those of full rank and of no elements."""
    kept = []
    for name, sample in samples:
        first = next((np.shape(array) for array in sample.inputs if array is not None), ())
        if not isinstance(sample.op, Elementwise) or len(first) == 3:
            kept.append((name, sample))
    return kept


def test_no_undefined_behaviour_and_no_stray_access(sanitized: Build) -> None:
    samples = _few_for_each_operation(samples_of())
    if sanitized.simd == "scalar":
        samples = [(name, sample) for name, sample in samples if uses_vectors(sample)]
    _require_no(run_cases(sanitized, lowered(samples, sanitized)[0])[0])


@pytest.mark.cross
def test_samples_agree_on_arm64(arm64: Build) -> None:
    cases, _ = lowered([(name, sample) for name, sample in samples_of() if uses_vectors(sample)], arm64)
    _require_no(run_cases(arm64, cases)[0])


def test_a_wrong_kernel_is_noticed(widest: Build) -> None:
    cases, _ = lowered(samples_of(["relu", "reduce_sum", "softmax"]), widest)
    for case in cases:
        case.expected = [array + (array.size > 0) for array in case.expected]
    wrong = [case for case in cases if case.expected[0].size]
    failures, _ = run_cases(widest, wrong)
    assert len(failures) == 3 * len(wrong)


def test_a_kernel_that_writes_before_its_buffer_is_noticed(widest: Build) -> None:
    case = _case(widest, "relu")
    case.calls[0] = _moved(case, -4)
    assert "wrote outside its buffers" in run_cases(widest, [case])[0][0]


def test_a_kernel_that_writes_behind_its_buffer_is_noticed(widest: Build) -> None:
    case = _case(widest, "relu")
    case.calls[0] = _moved(case, 4)
    assert "exit status -11" in run_cases(widest, [case])[0][0]


def _case(build: Build, op: str) -> Case:
    return next(case for case in lowered(samples_of([op]), build)[0] if case.expected[0].size > 100)


def _moved(case: Case, offset_bytes: int) -> KernelCall:
    call = case.calls[0]
    return replace(call, operands=(call.operands[0], replace(call.operands[1], offset_bytes=offset_bytes)))
