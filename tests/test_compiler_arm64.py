"""Real models on emulated ARM64 boards: compiled here, run and compared there, by the program that a board would run.

Risks: a kernel is right with one instruction set only; a step that two threads share answers differently; the program
without a libc of its own computes with other mathematics than the library; a symbolic batch is resolved wrongly.
The emulator has the CPU that the target names, so that an instruction too many ends the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import cuvil_edge
from cuvil_edge.artifact.manifest import Manifest
from cuvil_edge.errors import MissingFeatureError
from cuvil_edge.remote.agent import Agent, Tensor
from cuvil_edge.remote.transports.emulator import EmulatorTransport, emulated_cpu
from tests.golden_models import EXPORTED, GOLDEN, RELATIVE_TOLERANCE, GoldenCase, GoldenModel, assert_close, load_golden

pytestmark = [pytest.mark.cross, pytest.mark.golden]

BOARDS = ("raspberry-pi-4", "raspberry-pi-5")
CPUS = {"raspberry-pi-4": "cortex-a72", "raspberry-pi-5": "cortex-a76"}
LARGE = ("resnet50", "yolov8n", "deit_tiny")
"""More than a thousand million multiply-adds: half a minute under the emulator, so they run once, with two threads."""
ABSOLUTE_TOLERANCE = 1e-6


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Callable[[GoldenModel, str], tuple[Path, Manifest]]:
    """The folder of a model on a board, as a deployment installs it; compiled once."""
    made: dict[tuple[str, str], tuple[Path, Manifest]] = {}

    def get(model: GoldenModel, board: str) -> tuple[Path, Manifest]:
        if (model.name, board) not in made:
            artifact = cuvil_edge.compile(model.path, board=board)
            folder = tmp_path_factory.mktemp(f"{model.name}-{board}")
            (folder / "model").write_bytes(artifact.members[artifact.manifest.program_name])
            (folder / "model").chmod(0o755)
            (folder / "weights.bin").write_bytes(artifact.members["weights.bin"])
            made[model.name, board] = (folder, artifact.manifest)
        return made[model.name, board]

    return get


@contextmanager
def started(folder: Path, manifest: Manifest, threads: int) -> Iterator[Agent]:
    cpu = emulated_cpu(manifest.target.cpu)
    assert cpu == CPUS[manifest.target.name]
    with Agent.start(EmulatorTransport(home=folder, cpu=cpu), ".", threads=threads) as agent:
        assert agent.info.threads == threads
        yield agent


def write(folder: Path, name: str, array: np.ndarray) -> Tensor:
    (folder / name).write_bytes(np.ascontiguousarray(array).tobytes())
    return Tensor(name, array.shape)


def run(agent: Agent, folder: Path, manifest: Manifest, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    tensors = [write(folder, f"in{i}.bin", inputs[tensor.name]) for i, tensor in enumerate(manifest.inputs)]
    names = [f"out{i}.bin" for i in range(len(manifest.outputs))]
    reply = agent.run(tensors, names)
    dtypes = {"f32": np.float32, "i64": np.int64, "i32": np.int32}
    return [
        np.frombuffer((folder / name).read_bytes(), dtypes[tensor.dtype]).reshape(shape)
        for name, tensor, shape in zip(names, manifest.outputs, reply["output_shapes"], strict=True)
    ]


def verify(agent: Agent, folder: Path, manifest: Manifest, case: GoldenCase) -> None:
    inputs = [write(folder, f"in{i}.bin", case.inputs[tensor.name]) for i, tensor in enumerate(manifest.inputs)]
    expected = [write(folder, f"want{i}.bin", array) for i, array in enumerate(case.outputs.values())]
    reply = agent.verify(inputs, expected, RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE)
    assert reply["passed"], f"{case.name}: {reply['outputs']}"
    for output in reply["outputs"]:
        assert output["nan_count"] == 0
        assert output["max_rel_error"] <= RELATIVE_TOLERANCE


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("name", [*GOLDEN, *EXPORTED])
def test_known_answers_from_the_boards_side(name: str, board: str, release) -> None:
    model = load_golden(name)
    folder, manifest = release(model, board)
    case = model.cases[0]
    for threads in (2,) if name in LARGE else (1, 2):
        with started(folder, manifest, threads) as agent:
            verify(agent, folder, manifest, case)


@pytest.mark.parametrize("board", BOARDS)
def test_a_wrong_answer_does_not_pass_on_the_board(board: str, release) -> None:
    model = load_golden("mnist8")
    folder, manifest = release(model, board)
    case = model.cases[0]
    [(name, want)] = case.outputs.items()
    wrong = want.copy()
    wrong.flat[3] += 2 * RELATIVE_TOLERANCE * np.abs(want).max()
    with started(folder, manifest, 1) as agent, pytest.raises(AssertionError, match="mismatches"):
        verify(agent, folder, manifest, GoldenCase(case.name, case.inputs, {name: wrong}))


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("name", ["ppocr_cls", "magika"])
def test_a_batch_of_two_answers_like_its_images_alone(name: str, board: str, release) -> None:
    model = load_golden(name)
    folder, manifest = release(model, board)
    first = model.cases[0]
    second = next((case for case in model.cases[1:] if shapes(case.inputs) == shapes(first.inputs)), first)
    inputs = {key: np.concatenate([first.inputs[key], second.inputs[key]]) for key in first.inputs}
    with started(folder, manifest, 2) as agent:
        outputs = run(agent, folder, manifest, inputs)
    for got, (key, want) in zip(outputs, first.outputs.items(), strict=True):
        assert_close(got[:1], want, f"first of two: {key}")
        assert_close(got[1:], second.outputs[key], f"second of two: {key}")


def shapes(arrays: dict[str, np.ndarray]) -> list[tuple[int, ...]]:
    return [array.shape for array in arrays.values()]


def test_code_for_a_newer_board_says_so_on_an_older_one(release) -> None:
    folder, _ = release(load_golden("mnist8"), "raspberry-pi-5")
    with pytest.raises(MissingFeatureError) as caught:
        Agent.start(EmulatorTransport(home=folder, cpu="cortex-a72"), ".", threads=1)
    assert "asimddp" in str(caught.value)
