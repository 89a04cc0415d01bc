"""From a path, bytes or a message to a parsed model, or one sentence on why it is none."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.message import DecodeError, EncodeError, Message  # type: ignore[import-untyped]
from onnx import ModelProto, TensorProto

from cuvil_edge.artifact.parts import safe_name
from cuvil_edge.errors import ModelError
from cuvil_edge.frontends.onnx.external_data import ModelFolder

_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"PK\x03\x04", "a zip file: a PyTorch checkpoint, a Keras model, a .cuvil artifact or an archive"),
    (0, b"PK\x05\x06", "an empty zip file"),
    (4, b"TFL3", "a TensorFlow Lite model"),
    (4, b"ORTM", "a model in ONNX Runtime's own .ort format"),
    (0, b"\x89HDF", "an HDF5 file, such as a Keras .h5 model"),
    (0, b"GGUF", "a GGUF model"),
    (0, b"\x80\x02", "a Python pickle, such as an old PyTorch checkpoint"),
    (0, b"\x80\x04", "a Python pickle"),
    (0, b"\x1f\x8b", "a gzip file; unpack it first"),
    (0, b"\xfd7zXZ", "an xz file; unpack it first"),
    (0, b"7z\xbc\xaf", "a 7z archive; unpack it first"),
    (0, b"version https://git-lfs", "a Git LFS pointer; run 'git lfs pull' to fetch the model"),
    (0, b"\x7fELF", "an ELF program or library"),
    (0, b"\x89PNG", "a PNG picture"),
    (0, b"\xff\xd8\xff", "a JPEG picture"),
    (0, b"%PDF", "a PDF document"),
    (0, b"\x93NUMPY", "a numpy array"),
    (0, b"ir_version", "an ONNX model in text form; convert it with onnx.parser or onnx.save"),
    (0, b"7767517", "an ncnn model"),
)


@dataclass(frozen=True)
class ModelFile:
    """A parsed model, with what its bytes and place say about it."""

    proto: ModelProto
    sha256: str
    """Of the model's bytes."""
    name: str
    """The file's name without suffix, or the graph's own name, as an artifact can be called."""
    folder: ModelFolder | None
    """Where external data may lie."""


def read_model(source: str | os.PathLike[str] | bytes | ModelProto) -> ModelFile:
    """Parse a model; ModelError names the file and what it looks like if it is no ONNX model."""
    if isinstance(source, ModelProto):
        _require_text(source, safe_name(source.graph.name))
        return ModelFile(source, _hash_of(source), safe_name(source.graph.name), None)
    if isinstance(source, bytes | bytearray | memoryview):
        proto = _parse(bytes(source), "model")
        return ModelFile(proto, hashlib.sha256(source).hexdigest(), safe_name(proto.graph.name), None)
    path = Path(source)
    data = _read_file(path)
    folder = ModelFolder(os.path.dirname(os.path.abspath(path)))
    return ModelFile(_parse(data, str(path)), hashlib.sha256(data).hexdigest(), safe_name(path.stem), folder)


def _hash_of(proto: ModelProto) -> str:
    try:
        return hashlib.sha256(proto.SerializeToString(deterministic=True)).hexdigest()
    except (EncodeError, ValueError):
        hint = "save it with external data and pass the path"
        raise ModelError("the model is larger than a message can be (2 GB)", hint=hint) from None


def _read_file(path: Path) -> bytes:
    try:
        # Not blocking: opening a named pipe must not wait for somebody to write into it.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ModelError("is not a regular file", thing=str(path), expected="an ONNX model")
            return file.read()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelError("cannot read the model", thing=str(path), found=reason) from None
    except MemoryError:
        raise ModelError("the model does not fit into memory", thing=str(path)) from None


def _parse(data: bytes, thing: str) -> ModelProto:
    if not data:
        raise ModelError("is empty", thing=thing, expected="an ONNX model")
    proto = ModelProto()
    try:
        proto.ParseFromString(data)
    except (DecodeError, RuntimeError, ValueError):
        raise ModelError("is not an ONNX model", thing=thing, found=looks_like(data), hint=_TRUNCATED) from None
    if not proto.HasField("graph") or not proto.opset_import or (not proto.graph.node and not proto.graph.output):
        raise ModelError("is not an ONNX model", thing=thing, found=looks_like(data)) from None
    _require_text(proto, thing)
    return proto


def _require_text(message: Message, thing: str) -> None:
    """ModelError for a name that is not UTF-8 (protobuf hands such a one out as bytes), or that holds a NUL."""
    if isinstance(message, TensorProto):
        if not isinstance(message.name, str):
            raise ModelError("the name of a tensor is not text", thing=thing, found=repr(message.name)[:80])
        return
    for field, value in message.ListFields():
        for part in [value] if isinstance(value, str | bytes | int | float | Message) else value:
            if field.type == field.TYPE_STRING and not isinstance(part, str):
                raise ModelError(f"{field.name} is not text", thing=thing, found=repr(part)[:80])
            if isinstance(part, str) and "\0" in part and field.name in _NAME_FIELDS:
                raise ModelError("a name holds a NUL character", thing=thing, found=repr(part)[:80])
            if field.type == field.TYPE_MESSAGE:
                _require_text(part, thing)


_NAME_FIELDS = frozenset(("name", "input", "output", "dim_param", "op_type", "domain"))
_TRUNCATED = "if it should be one, the file may be cut off or damaged: compare its size with the original"


def looks_like(data: bytes) -> str:
    """What the first bytes of a file say about its format."""
    for offset, signature, description in _SIGNATURES:
        if data[offset : offset + len(signature)] == signature:
            return description
    start = data[:256].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "an HTML page; the download was probably an error page"
    if start.startswith(b"<"):
        return "an XML file"
    if len(data) > 9 and data[8:9] == b"{" and int.from_bytes(data[:8], "little") < len(data):
        return "a safetensors file: weights without a graph"
    if start.startswith((b"{", b"[")):
        return "a JSON file"
    if all(byte in b"\t\n\r" or 32 <= byte < 127 for byte in data[:256]):
        return "a text file"
    return "bytes of no known format"
