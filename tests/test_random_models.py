"""Random models, compiled and compared with the reference evaluator of the onnx package on inputs it has not seen.

Risks: an operator is right alone, and wrong beside a certain neighbour, because a pass moved or fused something that it
should not have; a symbolic extent is resolved wrongly in one combination; a slot is reused while somebody needs it.

A fixed set of models by default; ``CUVIL_FUZZ_SECONDS=3600`` makes it an hour of new ones, and prints each seed.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from onnx import ModelProto, checker
from onnx.reference import ReferenceEvaluator

import cuvil_edge
from cuvil_edge.errors import CuvilError
from cuvil_edge.target.target import host_target
from tests.conftest import missing_need
from tests.random_models import BINDINGS, RandomModel

pytest.importorskip("ziglang", reason="needs the compiler")

SECONDS = float(os.environ.get("CUVIL_FUZZ_SECONDS") or 0)
EXAMPLES = 25
VECTOR_ISAS = ("x86_64_avx2", "x86_64_avx512", "arm64_neon")
TOLERANCE = 1e-4
"""Of the output's range."""


Peer = Callable[[ModelProto], Callable[[dict[str, np.ndarray]], list[np.ndarray]]]
"""Makes something that runs a model."""


def text_of(model: ModelProto) -> str:
    """The nodes, a line each, for the message."""
    return "\n".join(f"{node.op_type} {list(node.input)} -> {list(node.output)}" for node in model.graph.node)


def check(source: random.Random, isa: str, size: int, peer: Peer | None = None) -> None:
    """One random model at every binding of its symbols, from one and from two threads."""
    drawn = RandomModel(source, plain=peer is None)
    model = drawn.build(size)
    if not model.graph.output:
        return
    checker.check_model(model, full_check=True)
    evaluate = peer(model) if peer is not None else partial(ReferenceEvaluator(model).run, None)
    artifact = cuvil_edge.compile(model, isa=isa)
    arrays = np.random.default_rng(source.randrange(2**32))
    for threads in (1, 2):
        with cuvil_edge.InferenceContext(artifact, threads=threads) as context:
            for index, binding in enumerate(BINDINGS):
                inputs = {
                    tensor.name: arrays.standard_normal([extent[index] for extent in tensor.shape]).astype(np.float32)
                    for tensor in drawn.inputs
                }
                want = evaluate(inputs)
                for (name, got), expected in zip(context.run(inputs).items(), want, strict=True):
                    place = f"{name} at {binding}, {isa}, {threads} threads\n{text_of(model)}"
                    assert got.shape == expected.shape, place
                    assert np.isfinite(expected).all(), f"the drawn model overflows: {place}"
                    scale = np.abs(expected).max()
                    error = np.abs(got.astype(np.float64) - expected).max()
                    assert error <= TOLERANCE * scale + 1e-5, f"error {error} of {scale}: {place}"


def vector_isa() -> str:
    """The widest instruction set of this machine in the list."""
    for isa in reversed(VECTOR_ISAS):
        try:
            return host_target(isa).isa
        except CuvilError:
            continue
    return "scalar"


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    # Shrinking compiles hundreds of models; the nodes in the message are few enough to read.
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(seed=st.integers(0, 2**32), size=st.integers(2, 10))
def test_random_models_answer_like_the_reference(seed: int, size: int) -> None:
    check(random.Random(seed), "scalar", size)


@pytest.mark.parametrize("seed", range(4))
def test_random_models_with_vectors(seed: int) -> None:
    check(random.Random(seed), vector_isa(), 5)


def other_engine(model: ModelProto) -> Callable[[dict[str, np.ndarray]], list[np.ndarray]]:
    """What knows windows that the onnx package's evaluator computes wrong (rounded up, dilated, padded on one side)."""
    import onnxruntime

    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return partial(session.run, None)


@pytest.mark.peers
@pytest.mark.parametrize("seed", range(100, 110))
def test_random_models_answer_like_another_engine(seed: int) -> None:
    check(random.Random(seed), "scalar", 6, other_engine)


def seeds() -> Iterator[int]:
    """New ones until the time is over."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        yield random.randrange(2**32)


@pytest.mark.skipif(SECONDS <= 0, reason="only when asked for: CUVIL_FUZZ_SECONDS=3600")
def test_random_models_for_long() -> None:
    peer = None if missing_need("peers") else other_engine
    for seed in seeds():
        print(f"seed {seed}", flush=True)
        source = random.Random(seed)
        check(source, source.choice(("scalar", vector_isa())), source.randrange(2, 14), peer)
