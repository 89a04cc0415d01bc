"""One run on a device with the user's inputs, and its outputs brought here."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cuvil_edge.artifact.reader import ArtifactReader
from cuvil_edge.cli._array_files import Array
from cuvil_edge.errors import CuvilError, RemoteCommandError
from cuvil_edge.remote.agent import Agent, Tensor
from cuvil_edge.remote.layout import Layout
from cuvil_edge.remote.script import run_script
from cuvil_edge.runtime.arrays import numpy_dtype

if TYPE_CHECKING:
    from cuvil_edge.remote.transports._base import Transport


def run_on_device(
    transport: Transport,
    artifact: ArtifactReader,
    inputs: Sequence[Array],
    *,
    root: str,
    threads: int | None = None,
    cpus: str | None = None,
) -> dict[str, Array]:
    """The outputs of the installed release of ``artifact`` for ``inputs`` (in the model's order), by name.

    Raises:
        InputError, ShapeError: the inputs do not fit the model.
        RemoteError: the device failed, or sent something else than the outputs.
    """
    manifest = artifact.manifest
    layout = Layout(root, manifest.model.name)
    name = f"run-{secrets.token_hex(8)}"
    folder = f"{layout.directory}/{name}"
    run_script(transport, 'mkdir -p "$1"', folder, what="cannot prepare the inputs")
    try:
        tensors = []
        for index, array in enumerate(inputs):
            transport.put(_little_endian_bytes(array), f"{folder}/in{index}.bin")
            # The agent runs in releases/<sha256>.
            tensors.append(Tensor(f"../../{name}/in{index}.bin", array.shape))
        outputs = [f"../../{name}/out{index}.bin" for index in range(len(manifest.outputs))]
        with Agent.start(transport, layout.release(artifact.sha256), threads=threads, cpus=cpus) as agent:
            reply = agent.run(tensors, outputs)
        contents = [transport.get(f"{folder}/out{index}.bin") for index in range(len(outputs))]
    finally:
        with contextlib.suppress(CuvilError):
            run_script(transport, 'rm -rf "$1"', folder, what="cannot remove the inputs")
    try:
        shapes = [tuple(int(extent) for extent in shape) for shape in reply["output_shapes"]]
        return {
            tensor.name: np.frombuffer(content, numpy_dtype(tensor.dtype)).reshape(shape)
            for tensor, content, shape in zip(manifest.outputs, contents, shapes, strict=True)
        }
    except (KeyError, TypeError, ValueError) as error:
        raise RemoteCommandError(
            "the outputs of the device make no sense", thing=transport.label, found=str(error)[:160]
        ) from None


def _little_endian_bytes(array: Array) -> bytes:
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
