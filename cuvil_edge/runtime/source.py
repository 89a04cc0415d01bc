"""Where the parts of an artifact come from: a file, or an artifact that is still in memory."""

from __future__ import annotations

import mmap
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from cuvil_edge.artifact.hashing import sha256_hex
from cuvil_edge.artifact.manifest import Manifest
from cuvil_edge.artifact.reader import ArtifactReader
from cuvil_edge.errors import ArtifactError, UsageError
from cuvil_edge.runtime.cpu import check_machine

WEIGHTS = "weights.bin"


@runtime_checkable
class ArtifactInMemory(Protocol):
    """What ``cuvil_edge.compile`` returns."""

    @property
    def manifest(self) -> Manifest:
        """The manifest; its member hashes may be missing."""

    @property
    def members(self) -> Mapping[str, bytes]:
        """The members by name."""


PathOrArtifact = str | os.PathLike[str] | ArtifactInMemory


@dataclass(frozen=True)
class Loaded:
    """A verified artifact: the library's bytes, the weights (mapped or in memory, aligned to 64 bytes)."""

    manifest: Manifest
    sha256: str
    library: bytes
    weights: memoryview | mmap.mmap


def load(source: PathOrArtifact) -> Loaded:
    """Opens and verifies what a run needs, after checking that the machine can run it.

    Raises:
        ArtifactError: the file cannot be read, is damaged or of a newer format.
        IncompatibleError: it is for another architecture, or for a CPU with more features.
        UsageError: neither a path nor an artifact.
    """
    if isinstance(source, str | os.PathLike):
        return _load_file(source)
    if isinstance(source, ArtifactInMemory):
        return _load_memory(source)
    raise UsageError(
        "cannot open this as a model",
        expected="the path of a .cuvil file, or what cuvil_edge.compile returned",
        found=type(source).__name__,
    )


def _load_file(path: str | os.PathLike[str]) -> Loaded:
    with ArtifactReader(path) as reader:
        manifest = reader.manifest
        check_machine(manifest, os.fspath(path))
        name = manifest.library_name
        for needed in (name, WEIGHTS):
            if needed not in manifest.members:
                raise ArtifactError(f'the member "{needed}" is missing', thing=os.fspath(path))
        # The copy is hashed, not the file: what is loaded is what was checked, whatever happens to the file meanwhile.
        library = bytes(reader.member(name))
        if sha256_hex(library) != manifest.members[name].sha256:
            reader.verify([name])
            raise ArtifactError(f'the member "{name}" changed while it was read', thing=os.fspath(path))
        # Hashing reads each page of the mapping that will be used, so that the first run finds them in memory.
        reader.verify([WEIGHTS])
        return Loaded(manifest, reader.sha256, library, reader.member(WEIGHTS))


def _load_memory(artifact: ArtifactInMemory) -> Loaded:
    manifest, members = artifact.manifest, artifact.members
    check_machine(manifest, manifest.model.name)
    for needed in (manifest.library_name, WEIGHTS):
        if needed not in members:
            raise ArtifactError(f'the member "{needed}" is missing', thing=manifest.model.name)
    data = members[WEIGHTS]
    weights = mmap.mmap(-1, max(len(data), 1))  # aligned, unlike bytes
    weights[: len(data)] = data
    view = memoryview(weights)[: len(data)].toreadonly()
    return Loaded(manifest, manifest.sha256(), bytes(members[manifest.library_name]), view)
