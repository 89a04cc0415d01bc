"""What people do with InferenceContext, right and wrong: every mistake is a sentence, nothing hangs, nothing leaks."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuvil_edge.errors import (
    ArtifactError,
    CuvilError,
    IncompatibleError,
    InputError,
    RuntimeFailure,
    ShapeError,
    UsageError,
)
from cuvil_edge.runtime.session import InferenceContext
from tests.runtime.conftest import WEIGHTS, compile_library, expected_outputs, make_inputs, make_manifest

Make = Callable[..., Path]
TIMEOUT_SECONDS = 60


def check_right(context: InferenceContext, inputs: dict[str, Any], outputs: dict[str, Any] | None = None) -> None:
    """Runs, unless there are outputs already, and compares with numpy."""
    outputs = context.run(inputs) if outputs is None else outputs
    expected = expected_outputs(inputs)
    assert list(outputs) == list(expected)
    for name, value in expected.items():
        np.testing.assert_allclose(outputs[name], value, rtol=1e-5, atol=1e-6)
        assert outputs[name].dtype == np.float32


@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_right_at_changing_shapes(artifact: Path, threads: int | None) -> None:
    with InferenceContext(artifact, threads=threads) as context:
        assert threads is None or context.threads == threads
        for rows in (1, 64, 5, 64, 14):
            check_right(context, make_inputs(rows, rows - 1, rows))


def test_describes_itself(artifact: Path) -> None:
    with InferenceContext(artifact, threads=1) as context:
        assert [(t.name, t.dtype, t.shape) for t in context.inputs] == [
            ("image", "f32", ("N", 4)),
            ("scale", "f32", ("N",)),
            ("row", "i64", ()),
        ]
        assert [t.name for t in context.outputs] == ["picked", "sums", "total"]
        assert context.memory.arena_bytes == 0
        context.run(make_inputs(9))
        memory = context.memory
        assert memory.arena_bytes == memory.arena_lower_bound_bytes == 2 * 192
        assert memory.weights_bytes == 16
        assert "fake" in repr(context)
    assert "closed" in repr(context)


def test_positional_arrays_and_lists(artifact: Path) -> None:
    inputs = make_inputs(5)
    with InferenceContext(artifact) as context:
        check_right(context, inputs, context.run(*inputs.values()))
        check_right(context, inputs, context(inputs))
        check_right(context, inputs, context.run(inputs["image"], inputs["scale"], 0))


def test_inputs_that_are_not_contiguous_are_copied(artifact: Path) -> None:
    inputs = make_inputs(6)
    transposed = np.asfortranarray(inputs["image"])
    strided = np.repeat(inputs["scale"], 2)[::2]
    unaligned = np.frombuffer(b"\0" + inputs["image"].tobytes(), np.uint8)[1:].view(np.float32).reshape(6, 4)
    assert not unaligned.flags.aligned
    read_only = inputs["image"].copy()
    read_only.flags.writeable = False
    with InferenceContext(artifact) as context:
        for image in (transposed, unaligned, read_only, inputs["image"][::-1][::-1]):
            check_right(context, inputs, context.run({**inputs, "image": image, "scale": strided}))


def test_out_arrays_are_filled_in_place(artifact: Path) -> None:
    inputs = make_inputs(7)
    out = {"picked": np.empty(4, "f"), "sums": np.empty(7, "f"), "total": np.empty(1, "f")}
    with InferenceContext(artifact) as context:
        outputs = context.run(inputs, out=out)
        assert all(outputs[name] is out[name] for name in out)
        check_right(context, inputs, outputs)
        listed = [np.empty_like(value) for value in out.values()]
        check_right(context, inputs, dict(zip(out, context.run(inputs, out=listed).values(), strict=True)))


def frozen(array: np.ndarray) -> np.ndarray:
    """A read-only copy."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"image": np.zeros((5, 4))}, InputError, ["input image", "float32", "float64", "astype"]),
        ({"image": np.zeros((5, 4), ">f4")}, InputError, ["input image", "float32"]),
        ({"image": np.zeros((5, 4), object)}, InputError, ["float32"]),
        ({"image": "cat.png"}, InputError, ["input image", "float32"]),
        ({"image": [[1.0], [2.0, 3.0]]}, InputError, ["input image"]),
        ({"image": np.zeros(5, "f")}, InputError, ["wrong rank", "[N, 4]", "[5]", "newaxis"]),
        ({"image": np.zeros((5, 4, 1), "f")}, InputError, ["wrong rank"]),
        ({"image": np.zeros((5, 3), "f")}, InputError, ["input image, axis 1", "expected: 4", "found: 3"]),
        ({"scale": np.zeros(6, "f")}, InputError, ["input scale, axis 0", "symbol N", "as in input image, axis 0"]),
        ({"row": np.array(0, np.int32)}, InputError, ["input row", "int64"]),
        ({"row": np.array(99)}, RuntimeFailure, ["Gather_2", "index"]),
        ({"imag": 1}, InputError, ["imag", "image, scale, row", 'did you mean "image"']),
        (make_inputs(0) | {"row": np.array(0)}, InputError, ["1 to 64", "found: 0"]),
        (make_inputs(65), InputError, ["1 to 64", "found: 65"]),
        (make_inputs(13), ShapeError, ["N must not be 13"]),
        (make_inputs(60), RuntimeFailure, ["arena", "memory"]),
        (make_inputs(61), RuntimeFailure, ["scratch", "memory"]),
    ],
)
def test_wrong_inputs_are_explained(
    artifact: Path, change: dict[str, Any], error: type[CuvilError], words: list[str]
) -> None:
    with InferenceContext(artifact, threads=2) as context:
        with pytest.raises(error) as caught:
            context.run({**make_inputs(5), **change})
        for word in words:
            assert word in str(caught.value)
        check_right(context, make_inputs(5))


def test_missing_and_extra_inputs(artifact: Path) -> None:
    inputs = make_inputs(5)
    with InferenceContext(artifact) as context:
        with pytest.raises(InputError, match="missing input"):
            context.run({"image": inputs["image"], "row": inputs["row"]})
        with pytest.raises(InputError, match="wrong number of inputs"):
            context.run(inputs["image"], inputs["scale"])
        with pytest.raises(InputError, match="wrong number of inputs"):
            context.run()
        with pytest.raises(InputError, match="wrong number of inputs"):
            context.run(*inputs.values(), inputs["row"])


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ({"picked": np.empty(4, "f")}, "missing output"),
        ({"picked": np.empty(4, "f"), "sums": np.empty(5, "f"), "totl": np.empty(1, "f")}, "unknown output"),
        ([np.empty(4, "f"), np.empty(5, "f")], "wrong number of outputs"),
        ([np.empty(4, "f"), np.empty(6, "f"), np.empty(1, "f")], "output sums"),
        ([np.empty(4, "f"), np.empty(5, "d"), np.empty(1, "f")], "output sums"),
        ([np.empty(4, "f"), np.empty(10, "f")[::2], np.empty(1, "f")], "in place"),
        ([np.empty(4, "f"), frozen(np.empty(5, "f")), np.empty(1, "f")], "in place"),
        ([np.empty(4, "f"), [0.0] * 5, np.empty(1, "f")], "not a numpy array"),
        (np.empty(4, "f"), "wrong number of outputs"),
    ],
)
def test_wrong_out_is_explained(artifact: Path, out: Any, words: str) -> None:
    with InferenceContext(artifact) as context, pytest.raises(InputError, match=words):
        context.run(make_inputs(5), out=out)


def test_out_must_not_share_memory(artifact: Path) -> None:
    inputs = make_inputs(5)
    block = np.zeros(32, np.float32)
    out = [block[:4], block[4:9], block[8:9]]
    with InferenceContext(artifact) as context:
        with pytest.raises(InputError, match="shares memory"):
            context.run(inputs, out=out)
        with pytest.raises(InputError, match="shares memory with input scale"):
            context.run(inputs, out=[block[:4], inputs["scale"], block[8:9]])


def test_closed_is_said(artifact: Path) -> None:
    with InferenceContext(artifact) as context:
        pass
    context.close()
    assert context.closed
    for use in (
        lambda: context.run(make_inputs(5)),
        lambda: context.profile(make_inputs(5)),
        lambda: context.memory,
        lambda: asyncio.run(context.run_async(make_inputs(5))),
    ):
        with pytest.raises(UsageError, match="closed"):
            use()


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", 100_000, True])
def test_wrong_threads(artifact: Path, threads: Any) -> None:
    with pytest.raises(UsageError, match="threads"):
        InferenceContext(artifact, threads=threads)


@pytest.mark.parametrize("cpus", [[], [-1], ["0"], [0, 0], [8000], [10**12]])
def test_wrong_cpus(artifact: Path, cpus: Any) -> None:
    with pytest.raises(UsageError, match=re.compile("CPU", re.IGNORECASE)):
        InferenceContext(artifact, cpus=cpus)


def test_cpus_bind_a_run_and_not_the_caller(artifact: Path) -> None:
    before = os.sched_getaffinity(0)
    cpu = min(before)
    with InferenceContext(artifact, cpus=[cpu]) as context:
        assert (context.threads, context.cpus) == (1, (cpu,))
        check_right(context, make_inputs(5))
    assert os.sched_getaffinity(0) == before


def test_other_machines_are_refused_by_name(make_artifact: Make) -> None:
    target = make_manifest().target
    other = make_artifact(target=dataclasses.replace(target, arch="m68k"), name="a.cuvil")
    with pytest.raises(IncompatibleError, match="m68k"):
        InferenceContext(other)
    more = make_artifact(target=dataclasses.replace(target, required_features=("fpu9000", "warp")), name="b.cuvil")
    with pytest.raises(IncompatibleError, match="fpu9000 warp") as caught:
        InferenceContext(more)
    assert "--board" in str(caught.value)


def test_the_library_itself_may_refuse(make_artifact: Make, tmp_path: Path) -> None:
    """The manifest says nothing of it, so the check of the library must."""
    name = make_manifest().library_name
    for define, error in (
        ('-DFAKE_FEATURES="warp"', IncompatibleError),
        ('-DFAKE_ARCH="m68k"', IncompatibleError),
        ("-DFAKE_ABI=99", ArtifactError),
    ):
        with pytest.raises(error):
            InferenceContext(make_artifact(members={name: compile_library(tmp_path, define)}))
    with pytest.raises(ArtifactError, match="cannot be loaded"):
        InferenceContext(make_artifact(members={name: b"\x7fELF not a library"}))
    with pytest.raises(ArtifactError, match="weights"):
        InferenceContext(make_artifact(members={"weights.bin": bytes(12)}))


def test_manifest_of_another_model_is_refused(make_artifact: Make) -> None:
    steps = make_manifest().steps
    renamed = (dataclasses.replace(steps[0], name="Other"), *steps[1:])
    with pytest.raises(ArtifactError, match="different models"):
        InferenceContext(make_artifact(steps=renamed))


def test_a_changed_byte_is_never_loaded(artifact: Path) -> None:
    data = artifact.read_bytes()
    for part in (b"\x7fELF", WEIGHTS.tobytes()):
        at = data.index(part)
        changed = artifact.with_name("changed.cuvil")
        changed.write_bytes(data[: at + 8] + bytes([data[at + 8] ^ 1]) + data[at + 9 :])
        with pytest.raises(ArtifactError, match="hash"):
            InferenceContext(changed)


@pytest.mark.parametrize("source", [None, 5, b"bytes", object()])
def test_not_an_artifact(source: Any) -> None:
    with pytest.raises(UsageError, match="open"):
        InferenceContext(source)


def test_artifact_in_memory(library: bytes) -> None:
    manifest = make_manifest()
    members = {manifest.library_name: library, "weights.bin": WEIGHTS.tobytes()}
    with InferenceContext(SimpleNamespace(manifest=manifest, members=members)) as context:
        check_right(context, make_inputs(5))


def test_two_models_at_once_and_file_removed(make_artifact: Make, library: bytes, tmp_path: Path) -> None:
    """Libraries are loaded by the path of a file number: one model must never get the code of another."""
    first = make_artifact(name="one.cuvil")
    contexts = [InferenceContext(first, threads=1) for _ in range(3)]
    contexts[1].close()
    contexts.append(InferenceContext(make_artifact(name="two.cuvil"), threads=2))
    first.unlink()
    for context in (contexts[0], contexts[2], contexts[3]):
        check_right(context, make_inputs(6))
        context.close()


def test_threads_share_a_context(artifact: Path) -> None:
    failures: list[BaseException] = []
    with InferenceContext(artifact, threads=2) as context:

        def use(rows: int) -> None:
            try:
                for _ in range(100):
                    check_right(context, make_inputs(rows, 1, rows))
            except BaseException as error:
                failures.append(error)

        callers = [threading.Thread(target=use, args=(rows,)) for rows in (2, 9, 33, 9)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(TIMEOUT_SECONDS)
    assert not failures


def test_close_while_others_run(artifact: Path) -> None:
    """A run is finished or refused, never pulled from under the caller."""
    for _ in range(20):
        context = InferenceContext(artifact, threads=2)
        results: list[str] = []

        def use(context: InferenceContext = context, results: list[str] = results) -> None:
            try:
                while True:
                    check_right(context, make_inputs(5))
            except UsageError as error:
                results.append(error.what)

        callers = [threading.Thread(target=use) for _ in range(3)]
        for caller in callers:
            caller.start()
        time.sleep(0.002)
        context.close()
        for caller in callers:
            caller.join(TIMEOUT_SECONDS)
        assert results == ["the model is closed"] * 3


def test_asyncio(artifact: Path) -> None:
    async def main() -> None:
        with InferenceContext(artifact, threads=2) as context:
            many = [make_inputs(rows, 0, rows) for rows in (1, 5, 9, 5)]
            results = await asyncio.gather(*(context.run_async(inputs) for inputs in many))
            for inputs, outputs in zip(many, results, strict=True):
                check_right(context, inputs, outputs)
            with pytest.raises(InputError):
                await context.run_async({**many[0], "image": 1})

    asyncio.run(main())


def test_child_process_is_told_and_does_not_hang(artifact: Path) -> None:
    code = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from cuvil_edge.runtime.session import InferenceContext
from cuvil_edge.errors import RuntimeFailure
from tests.runtime.conftest import make_inputs
context = InferenceContext({str(artifact)!r}, threads=2)
context.run(make_inputs(5))
pid = os.fork()
if pid == 0:
    try:
        context.run(make_inputs(5))
    except RuntimeFailure as error:
        context.close()
        os._exit(0 if "fork" in str(error) else 1)
    os._exit(2)
assert os.waitpid(pid, 0)[1] == 0
context.run(make_inputs(5))
context.close()
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=TIMEOUT_SECONDS)


def test_profile(artifact: Path) -> None:
    with InferenceContext(artifact, threads=2) as context:
        profile = context.profile(make_inputs(6), runs=7, warmup_runs=1, command="the command")
    assert profile.symbols == {"N": 6}
    assert len(profile.run_wall_ns) == len(profile.unprofiled_run_ns) == 7
    assert [step.name for step in profile.steps] == [step.name for step in make_manifest().steps]
    assert profile.steps[0].flops == 48
    assert profile.steps[0].inputs[0].shape == (6, 4)
    assert profile.slots[3].bytes == 96
    assert (profile.warmup_runs, profile.threads, profile.command) == (1, 2, "the command")
    assert profile.arena_bytes == 256
    for wall, starts, durations in zip(
        profile.run_wall_ns, profile.step_start_ns, profile.step_duration_ns, strict=True
    ):
        assert starts[-1] + durations[-1] <= wall
        assert list(starts) == sorted(starts)
    assert type(profile).from_json(profile.to_json()) == profile


@pytest.mark.parametrize("numbers", [{"runs": 0}, {"runs": 2.5}, {"warmup_runs": -1}, {"max_duration_ns": 0}])
def test_wrong_profile_numbers(artifact: Path, numbers: dict[str, Any]) -> None:
    with InferenceContext(artifact) as context, pytest.raises(UsageError, match=next(iter(numbers))):
        context.profile(make_inputs(5), **numbers)


def test_control_c_ends_a_long_profile(artifact: Path) -> None:
    with InferenceContext(artifact, threads=1) as context:
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            context.profile(make_inputs(64), runs=10_000_000)
        timer.cancel()
        check_right(context, make_inputs(5))


def resident_bytes() -> int:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_open_and_close_leak_nothing(artifact: Path) -> None:
    def rounds(count: int) -> None:
        for _ in range(count):
            with InferenceContext(artifact, threads=3) as context:
                context.run(make_inputs(20))
        gc.collect()

    rounds(50)
    before, files = resident_bytes(), len(os.listdir("/proc/self/fd"))
    rounds(300)
    assert len(os.listdir("/proc/self/fd")) == files
    assert threading.active_count() < 20
    assert len(os.listdir("/proc/self/task")) < 40
    assert resident_bytes() - before < 8 << 20


def test_changing_shapes_do_not_grow_memory(artifact: Path) -> None:
    random = np.random.default_rng(0)
    with InferenceContext(artifact, threads=2) as context:
        context.run(make_inputs(59))
        for _ in range(100):
            context.run(make_inputs(int(random.integers(14, 60))))
        before = resident_bytes()
        for _ in range(3000):
            context.run(make_inputs(int(random.integers(14, 60))))
        assert resident_bytes() - before < 4 << 20
