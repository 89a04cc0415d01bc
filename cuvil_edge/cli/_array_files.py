"""Arrays in files: .npy and .npz in, .npy and .npz out."""

from __future__ import annotations

import io
import os
import re
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cuvil_edge.errors import InputError, UsageError
from cuvil_edge.fields import nearest_hint

Array = npt.NDArray[Any]

_FORM = "NAME=FILE.npy, or FILE.npz with arrays by name"


def read_inputs(texts: Iterable[str], names: tuple[str, ...]) -> dict[str, Array]:
    """The values of ``--input``, by the name of the input.

    Args:
        texts: ``NAME=FILE.npy``, ``FILE.npz``, or ``FILE.npy`` alone where the model has one input.
        names: of the model's inputs.

    Raises:
        UsageError: a text of another form, or an input given twice.
        InputError: a file that cannot be read or holds no plain array; an unknown name.
    """
    arrays: dict[str, Array] = {}
    for text in texts:
        for name, array in _read(text, names).items():
            if name not in names:
                raise InputError(
                    "the model has no such input",
                    thing=f"--input {text}",
                    expected=", ".join(names),
                    found=name,
                    hint=nearest_hint(name, names),
                )
            if name in arrays:
                raise UsageError("the input is given twice", thing=f"--input {text}", found=name)
            arrays[name] = array
    return arrays


def _read(text: str, names: tuple[str, ...]) -> dict[str, Array]:
    name, equals, file = text.partition("=")
    known = next((known for known in names if text.startswith(f"{known}=")), None)  # names may hold a "="
    if known is not None:
        name, file = known, text[len(known) + 1 :]
    elif equals and not Path(text).exists():
        if not name or not file:
            raise UsageError("there is no name and file", thing=f"--input {text}", expected=_FORM)
    else:
        name, file = "", text
    loaded = load(Path(file))
    if isinstance(loaded, dict):
        if name and name not in loaded:
            raise InputError("the file has no such array", thing=f"--input {text}", found=", ".join(loaded) or "none")
        return {name: loaded[name]} if name else loaded
    if name:
        return {name: loaded}
    if len(names) != 1:
        raise UsageError(
            "it is not said which input this is", thing=f"--input {text}", expected=f"NAME={text}, NAME one of {names}"
        )
    return {names[0]: loaded}


def load(path: Path) -> Array | dict[str, Array]:
    """The array of a .npy file, or all of a .npz file by name. Nothing in it is executed.

    Raises:
        InputError: no such file, not such a file, damaged, or an array of Python objects.
    """
    try:
        with path.open("rb") as file:
            content = np.load(file, allow_pickle=False)
            if isinstance(content, np.lib.npyio.NpzFile):
                return {name: _plain(content[name], path) for name in content.files}
            return _plain(content, path)
    except OSError as error:
        raise InputError("cannot read the file", thing=str(path), found=error.strerror or str(error)) from None
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(
            "this is not a file of arrays",
            thing=str(path),
            expected="what numpy.save or numpy.savez writes",
            found=(str(error).splitlines() or [type(error).__name__])[0],
        ) from None


def _plain(array: Any, path: Path) -> Array:
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
        found = getattr(array, "dtype", type(array).__name__)
        raise InputError("this is not an array of numbers", thing=str(path), found=str(found))
    return array


def check_output_place(place: Path | None) -> None:
    """Say before the work that outputs cannot be written there. Raises UsageError."""
    if place is None:
        return
    if place.suffix == ".npz" and place.is_dir():
        raise UsageError("this is a folder", thing=f"--output {place}", expected="the name of a file to write")
    if place.suffix != ".npz" and place.exists() and not place.is_dir():
        raise UsageError("this is a file", thing=f"--output {place}", expected="a folder, or the name of a .npz file")


def write_outputs(arrays: Mapping[str, Array], place: Path) -> dict[str, Path]:
    """Write every array whole or not at all: into one .npz file, or as ``<name>.npy`` into a folder (made if needed).

    Returns:
        the file of each array.

    Raises:
        UsageError, DiskFullError: by way of OSError, which names the file.
    """
    if place.suffix == ".npz":
        _write_whole(place, _npz_bytes(arrays))
        return dict.fromkeys(arrays, place)
    place.mkdir(parents=True, exist_ok=True)
    files: dict[str, Path] = {}
    for name, array in arrays.items():
        files[name] = place / _file_name(name, {file.name for file in files.values()})
        _write_whole(files[name], _npy_bytes(array))
    return files


def _npy_bytes(array: Array) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _npz_bytes(arrays: Mapping[str, Array]) -> bytes:
    """As ``numpy.savez``, which cannot take an array named "file"; equal arrays give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), _npy_bytes(array))
    return buffer.getvalue()


def _file_name(name: str, taken: set[str]) -> str:
    """``name`` as a file name: a model from a stranger cannot choose the folder."""
    stem = re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".")[:100] or "output"
    candidate, number = f"{stem}.npy", 2
    while candidate in taken:
        candidate, number = f"{stem}_{number}.npy", number + 1
    return candidate


def _write_whole(path: Path, content: bytes) -> None:
    """Write beside ``path`` and rename."""
    handle, temporary = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
