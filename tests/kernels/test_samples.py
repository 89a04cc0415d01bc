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
from cuvil_edge.ops.fused_elementwise import FusedElementwise
from tests.kernels.harness import Build, Case, lowered, native_build, run_cases, samples_of, uses_vectors

_SANITIZED_KERNELS = 12


def _require_no(failures: list[str]) -> None:
    assert not failures, f"{len(failures)} failures:\n" + "\n".join(failures[:40])


def test_samples_agree_with_the_references(widest: Build) -> None:
    cases, refusals = lowered(samples_of(), widest)
    assert len(cases) > 900
    assert len(refusals) < len(cases) / 20, "\n".join(refusals)
    _require_no(run_cases(widest, cases)[0])


def test_every_instruction_set_gives_the_same_answers(native: Build, widest: Build) -> None:
    if native == widest:
        pytest.skip("runs all samples above")
    samples = [(name, sample) for name, sample in _few_of_each_operation(samples_of()) if uses_vectors(sample)]
    _require_no(run_cases(native, lowered(samples, native)[0])[0])


def test_symbolic_extents_give_the_same_answers(widest: Build) -> None:
    cases, _ = lowered(samples_of(), widest, symbolic=True)
    assert sum(not isinstance(extent, int) for case in cases for call in case.calls for extent in call.extents) > 900
    _require_no(run_cases(widest, cases)[0])


def _few_of_each_operation(samples: list[tuple[str, Sample]]) -> list[tuple[str, Sample]]:
    """All samples of operations with loops of their own; of element-wise ones the first of f32, integers and bools."""
    kept, seen = [], set()
    for name, sample in samples:
        kind = next((array.dtype.kind for array in sample.inputs if isinstance(array, np.ndarray)), "")
        key = (type(sample.op), kind)
        if not isinstance(sample.op, Elementwise) or isinstance(sample.op, FusedElementwise) or key not in seen:
            kept.append((name, sample))
        seen.add(key)
    return kept


def test_no_undefined_behaviour_and_no_stray_access() -> None:
    build = native_build("x86_64_avx2", sanitize=True)
    if isinstance(build, str):
        pytest.skip(build)
    cases, _ = lowered(_few_of_each_operation(samples_of()), build)
    _require_no(run_cases(build, _with_few_kernels(cases))[0])


def _with_few_kernels(cases: list[Case]) -> list[Case]:
    """Cases of at most a dozen different kernels an operation: sanitizers make building slow."""
    kernels: dict[str, set[str]] = {}
    kept = []
    for case in cases:
        known = kernels.setdefault(case.node.op.name, set())
        names = {call.kernel.name for call in case.calls}
        if len(known | names) <= _SANITIZED_KERNELS:
            known |= names
            kept.append(case)
    return kept


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
