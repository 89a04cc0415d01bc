"""Telling a model from an artifact, and making an artifact of a model where a command takes either."""

from __future__ import annotations

import argparse
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cuvil_edge.cli._arguments import parse_dims
from cuvil_edge.cli._output import Output
from cuvil_edge.errors import UsageError

if TYPE_CHECKING:
    from cuvil_edge.compiler import Artifact

_ZIP_MAGIC = b"PK\x03\x04"


def is_artifact(path: Path) -> bool:
    """Whether the file is an artifact: named ``.cuvil``, or a zip file, which no model is.

    Raises:
        UsageError: there is no such file, or it cannot be read.
    """
    try:
        # Not blocking: opening a named pipe must not wait for somebody to write into it.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return file.read(4) == _ZIP_MAGIC or path.suffix == ".cuvil"
            reason = "Is not a regular file"
    except OSError as error:
        reason = error.strerror or str(error)
    raise UsageError("cannot read the file", thing=str(path), expected="a model or an artifact", found=reason)


def refuse_artifact(path: Path, command: str) -> None:
    """Raises UsageError where a model is wanted and the file is an artifact."""
    if is_artifact(path):
        raise UsageError(
            "this is a compiled model already",
            thing=str(path),
            expected=f"the model that it was compiled from, to {command}",
        )


def compile_model(args: argparse.Namespace, output: Output, board: str | None) -> Artifact:
    """Compile ``args.model`` for ``board`` with the arguments of ``add_target``."""
    from cuvil_edge.compiler import compile

    return compile(
        args.model,
        board=board or "host",
        isa=args.isa,
        precision=args.precision,
        dims=parse_dims(args.dim) or None,
        compiler=args.compiler,
        config=args.config,
        progress=lambda stage, done, total: output.progress(f"compile: {stage}", done, total),
    )


@contextmanager
def artifact_file(args: argparse.Namespace, output: Output, board: str | None) -> Iterator[Path]:
    """The artifact ``args.model``, or one made of that model for ``board`` in a temporary folder.

    Raises:
        UsageError: arguments for compiling were given with an artifact; no such file.
        CuvilError: whatever the compiler says.
    """
    if is_artifact(args.model):
        given = [flag for flag in ("isa", "dim") if getattr(args, flag)]
        if given:
            raise UsageError(
                "this is a compiled model: it cannot be compiled again",
                thing=str(args.model),
                found=" ".join(f"--{flag}" for flag in given),
                hint="give the model itself instead",
            )
        yield args.model
        return
    artifact = compile_model(args, output, board)
    with tempfile.TemporaryDirectory(prefix="cuvil-edge-") as folder:
        yield artifact.save(Path(folder) / f"{artifact.manifest.model.name}.cuvil")
