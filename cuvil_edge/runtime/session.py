"""``InferenceContext``: an artifact, open for running on this machine."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from cuvil_edge import _runtime
from cuvil_edge.artifact.expression import parse
from cuvil_edge.artifact.manifest import TensorInfo
from cuvil_edge.errors import ArtifactError, UsageError
from cuvil_edge.fields import is_integer
from cuvil_edge.runtime.arrays import Array, as_buffer, by_position, checked_input, checked_output, numpy_dtype
from cuvil_edge.runtime.failures import translated
from cuvil_edge.runtime.source import Loaded, PathOrArtifact, load

if TYPE_CHECKING:
    from cuvil_edge.profile.records import Profile

_NO_LIMIT_NS = 2**63 - 1
_MAX_THREADS = 1024


@dataclass(frozen=True)
class MemoryUse:
    """Bytes that an open model holds. Arena numbers are for the shapes of the last run, 0 before the first."""

    weights_bytes: int
    arena_bytes: int
    """As planned: what slots need when those that do not live together share bytes."""
    arena_lower_bound_bytes: int
    """The largest sum of slots that live together: no plan needs less."""
    arena_reserved_bytes: int
    """Mapped; grows to the largest arena until now and goes back to the system with ``close``."""
    scratch_bytes: int
    """Working memory of all threads."""


class InferenceContext:
    """An open model.

    Open it as a context manager, or call ``close``: memory and threads go back to the system at once. It may be used
    from several threads and from asyncio; runs happen one after the other, without the interpreter lock. After a fork,
    open the model again in the child.

    Args:
        path_or_artifact: a ``.cuvil`` file, or what ``cuvil_edge.compile`` returned.
        threads: threads that compute, the caller's included. By default one for each CPU of the fastest cluster,
            within the affinity mask and the CPU quota of the cgroups.
        cpus: CPUs to run on; by default the fastest cluster. With at least as many CPUs as threads, each thread stays
            on one of them, and the calling thread is moved for the time of a run.

    Raises:
        ArtifactError: the file cannot be read, is damaged, was changed, or has a newer format.
        IncompatibleError: it is for another architecture, or needs CPU features that this machine lacks.
        UsageError: wrong ``threads`` or ``cpus``.
        RuntimeFailure: no memory, or no more threads.
    """

    def __init__(
        self, path_or_artifact: PathOrArtifact, *, threads: int | None = None, cpus: Sequence[int] | None = None
    ) -> None:
        thread_count, cpu_list = _check_threads(threads), _check_cpus(cpus)
        loaded = load(path_or_artifact)
        self._manifest = loaded.manifest
        self._sha256 = loaded.sha256
        with translated():
            self._model = _runtime.OpenModel(
                loaded.library, loaded.weights, loaded.manifest.model.name, thread_count, cpu_list
            )
            self._facts = self._model.describe()
        try:
            _compare(loaded, self._facts)
        except ArtifactError:
            self._model.close()
            raise
        self._input_dtypes = [numpy_dtype(tensor.dtype) for tensor in self._manifest.inputs]
        self._output_dtypes = [numpy_dtype(tensor.dtype) for tensor in self._manifest.outputs]
        self._executor: ThreadPoolExecutor | None = None
        self._executor_lock = threading.Lock()

    @property
    def inputs(self) -> list[TensorInfo]:
        """Name, dtype and shape of each input; symbolic extents are names."""
        return list(self._manifest.inputs)

    @property
    def outputs(self) -> list[TensorInfo]:
        """Name, dtype and shape of each output; symbolic extents are names or expressions."""
        return list(self._manifest.outputs)

    @property
    def threads(self) -> int:
        """Threads that compute."""
        return int(self._facts["threads"])

    @property
    def cpus(self) -> tuple[int, ...]:
        """The CPUs that this model runs on."""
        return tuple(self._facts["cpus"])

    @property
    def memory(self) -> MemoryUse:
        """What the model holds now; raises UsageError when it is closed."""
        with translated():
            return MemoryUse(**self._model.memory())

    @property
    def closed(self) -> bool:
        """Whether ``close`` was called."""
        return self._model.closed

    def run(
        self, *inputs: object, out: Mapping[str, Array] | Sequence[Array] | Array | None = None
    ) -> dict[str, Array]:
        """Compute the outputs for ``inputs``: one dict by name, or arrays in the model's order.

        Inputs are used in place when they are C-contiguous, and copied otherwise; they must not change during the run.

        Args:
            inputs: arrays of exactly the dtypes of the model.
            out: arrays to write the outputs into (by name, or in the model's order); by default new ones.

        Returns:
            the outputs by name.

        Raises:
            InputError: wrong names, dtypes, ranks or extents; or ``out`` does not fit.
            ShapeError: the extents break a constraint of the model.
            RuntimeFailure: a step refused its data (such as an index out of range), or memory could not be had.
            UsageError: the model is closed.
        """
        arrays = self._input_arrays(inputs)
        with translated():
            results = self._output_arrays(arrays, out)
            self._model.run(arrays, [as_buffer(array) for array in results])
        return {tensor.name: array for tensor, array in zip(self._manifest.outputs, results, strict=True)}

    __call__ = run

    async def run_async(
        self, *inputs: object, out: Mapping[str, Array] | Sequence[Array] | Array | None = None
    ) -> dict[str, Array]:
        """``run`` on a thread of this context, so that the event loop goes on; the same arguments and errors."""
        with self._executor_lock:
            if self.closed:
                return self.run(*inputs, out=out)  # raises
            if self._executor is None:
                self._executor = ThreadPoolExecutor(1, thread_name_prefix="cuvil-run")
            future = self._executor.submit(self.run, *inputs, out=out)
        return await asyncio.wrap_future(future)

    def profile(
        self,
        *inputs: object,
        runs: int = 50,
        warmup_runs: int = 3,
        max_duration_ns: int | None = None,
        command: str | None = None,
    ) -> Profile:
        """Run many times with a clock around each step, and as many times without for comparison.

        Args:
            inputs: as for ``run``.
            runs: profiled runs.
            warmup_runs: runs before the first that counts.
            max_duration_ns: begin no further run after this time.
            command: a command line that repeats the measurement, to be stored.

        Raises:
            as ``run``; UsageError for a wrong number.
        """
        from cuvil_edge.runtime.local_profile import make_profile

        limit_ns = _NO_LIMIT_NS if max_duration_ns is None else max_duration_ns
        for name, value, least in (
            ("runs", runs, 1),
            ("warmup_runs", warmup_runs, 0),
            ("max_duration_ns", limit_ns, 1),
        ):
            if not is_integer(value) or not least <= value <= _NO_LIMIT_NS:
                raise UsageError(
                    "wrong value", thing=name, expected=f"an integer of at least {least}", found=repr(value)
                )
        arrays = self._input_arrays(inputs)
        with translated():
            outputs = [as_buffer(array) for array in self._output_arrays(arrays, None)]
            times = self._model.profile(arrays, outputs, runs, warmup_runs, limit_ns)
            symbols = self._symbols(arrays)
            memory = self.memory
        return make_profile(
            self._manifest, self._sha256, times, symbols, memory, self.threads, warmup_runs=warmup_runs, command=command
        )

    def close(self) -> None:
        """Give memory and threads back. Waits for a run that is under way; may be called again."""
        self._model.close()  # runs of `run_async` that have not begun fail from here on
        with self._executor_lock:
            executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown()

    def __enter__(self) -> InferenceContext:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"{self.threads} threads"
        return f"<InferenceContext {self._manifest.model.name} for {self._manifest.target.name}, {state}>"

    def _input_arrays(self, inputs: tuple[object, ...]) -> list[Array]:
        values, _ = by_position(inputs, self._manifest.inputs)
        triples = zip(values, self._manifest.inputs, self._input_dtypes, strict=True)
        return [as_buffer(checked_input(value, tensor, dtype)) for value, tensor, dtype in triples]

    def _output_arrays(self, inputs: list[Array], out: Any) -> list[Array]:
        shapes = self._model.output_shapes(inputs)
        if out is None:
            return [np.empty(shape, dtype) for shape, dtype in zip(shapes, self._output_dtypes, strict=True)]
        given = tuple(out) if isinstance(out, list | tuple) else (out,)
        values, _ = by_position(given, self._manifest.outputs, "output")
        rows = zip(values, self._manifest.outputs, self._output_dtypes, shapes, strict=True)
        return [checked_output(value, tensor, dtype, shape) for value, tensor, dtype, shape in rows]

    def _symbols(self, arrays: list[Array]) -> dict[str, int]:
        """The values of the symbols, from the inputs: another thread may have run other shapes meanwhile."""
        values: dict[str, int] = {}
        for array, tensor in zip(arrays, self._manifest.inputs, strict=True):
            for extent, size in zip(tensor.shape, array.shape, strict=True):
                values |= dict.fromkeys(parse(extent).symbols if isinstance(extent, str) else (), int(size))
        return values


def _check_threads(threads: int | None) -> int:
    if threads is None:
        return 0
    if not is_integer(threads) or not 1 <= threads <= _MAX_THREADS:
        raise UsageError(
            "wrong number of threads",
            thing="threads",
            expected=f"an integer from 1 to {_MAX_THREADS}, or None",
            found=repr(threads),
        )
    return int(threads)


def _check_cpus(cpus: Sequence[int] | None) -> list[int]:
    if cpus is None:
        return []
    listed = list(cpus)
    if not listed or not all(is_integer(cpu) and 0 <= cpu < 2**31 for cpu in listed):
        raise UsageError("wrong CPU list", thing="cpus", expected="CPU numbers such as [4, 5, 6, 7]", found=repr(cpus))
    return [int(cpu) for cpu in listed]


def _compare(loaded: Loaded, facts: Mapping[str, Any]) -> None:
    """Raises ArtifactError when library and manifest do not describe the same model."""
    manifest = loaded.manifest
    pairs = (
        ("inputs", [(tensor.name, tensor.dtype) for tensor in manifest.inputs]),
        ("outputs", [(tensor.name, tensor.dtype) for tensor in manifest.outputs]),
        ("steps", [step.name for step in manifest.steps]),
    )
    for key, expected in pairs:
        if facts[key] != expected:
            raise ArtifactError(
                "library and manifest describe different models",
                thing=f"{manifest.library_name}: {key}",
                expected=f"{len(expected)} as in the manifest",
                found=f"{len(facts[key])}, or others",
                hint="compile the model again",
            )
