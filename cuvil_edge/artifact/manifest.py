"""The manifest of an artifact: everything that is known about a compiled model without running it.

``Manifest`` and its parts have ``to_json`` / ``from_json``; when a manifest is read, every key is checked and every
expression is parsed, and a mistake is reported with the key's path.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final, NoReturn

from cuvil_edge.artifact.expression import parse
from cuvil_edge.artifact.parts import (
    CHUNK_BYTES,
    DTYPES,
    NAME_EXPECTED,
    NAME_PATTERN,
    ArenaInfo,
    Expr,
    MemberInfo,
    MemoryInfo,
    ModelInfo,
    ReferenceCase,
    Shape,
    SlotInfo,
    StepInfo,
    SymbolInfo,
    TargetInfo,
    TensorInfo,
    ValueInfo,
    member_name_fault,
)
from cuvil_edge.errors import ArtifactError
from cuvil_edge.fields import INT64_MAX, Fields, is_integer, show

__all__ = [
    "FORMAT",
    "MANIFEST_NAME",
    "ArenaInfo",
    "Expr",
    "Manifest",
    "MemberInfo",
    "MemoryInfo",
    "ModelInfo",
    "ReferenceCase",
    "Shape",
    "SlotInfo",
    "StepInfo",
    "SymbolInfo",
    "TargetInfo",
    "TensorInfo",
    "ValueInfo",
]

FORMAT: Final = 1
"""The newest format that this version reads, and the one that it writes."""
MANIFEST_NAME: Final = "manifest.json"

_MAX_RANK: Final = 64
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_SHA256_EXPECTED: Final = "64 lower-case hexadecimal digits"


@dataclass(frozen=True)
class Manifest:
    """The whole manifest. ``members`` is filled by ``write_artifact``."""

    model: ModelInfo
    compiler_version: str
    target: TargetInfo
    precision: str
    symbols: tuple[SymbolInfo, ...]
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    memory: MemoryInfo
    slots: tuple[SlotInfo, ...]
    steps: tuple[StepInfo, ...]
    reference: tuple[ReferenceCase, ...] = ()
    members: Mapping[str, MemberInfo] = dataclasses.field(default_factory=dict)
    format: int = FORMAT

    @property
    def library_name(self) -> str:
        """The member that the runtime loads: ``lib/<target>.so``."""
        return f"lib/{self.target.name}.so"

    @property
    def program_name(self) -> str:
        """The member that runs on a device: ``bin/<target>``."""
        return f"bin/{self.target.name}"

    def to_json(self) -> dict[str, Any]:
        """The manifest as JSON values."""
        plain: dict[str, Any] = _as_json(dataclasses.asdict(self))
        order = (
            "format",
            "model",
            "compiler",
            "target",
            "precision",
            "symbols",
            "inputs",
            "outputs",
            "memory",
            "slots",
        )
        plain["compiler"] = {"version": plain.pop("compiler_version")}
        plain["members"] = {name: plain["members"][name] for name in sorted(plain["members"])}
        return {key: plain[key] for key in (*order, "steps", "reference", "members")}

    def to_bytes(self) -> bytes:
        """The text of ``manifest.json``: the same manifest always gives the same bytes."""
        return (json.dumps(self.to_json(), ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()

    def sha256(self) -> str:
        """Hash of ``to_bytes()``, which is the identity of the artifact: it covers the hash of every member."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @classmethod
    def from_bytes(cls, data: bytes, source: str = MANIFEST_NAME) -> Manifest:
        """Reads the text of a ``manifest.json``; raises ArtifactError naming ``source`` and the key."""
        return cls.from_json(decode_json(data, source), source)

    @classmethod
    def from_json(cls, value: object, source: str = MANIFEST_NAME) -> Manifest:
        """Reads and checks JSON values; raises ArtifactError naming ``source`` and the key."""
        top = Fields(value, source, ArtifactError)
        check_format(top)
        symbols = tuple(_symbol(item) for item in top.sections("symbols"))
        names = frozenset(symbol.name for symbol in symbols)
        _refuse_repeats(top, "symbols", [symbol.name for symbol in symbols])
        steps = tuple(_step(item, names) for item in top.sections("steps"))
        manifest = cls(
            model=_model(top.section("model")),
            compiler_version=top.section("compiler").text("version"),
            target=_target(top.section("target")),
            precision=top.text("precision"),
            symbols=symbols,
            inputs=tuple(_tensor(item, names) for item in top.sections("inputs")),
            outputs=tuple(_tensor(item, names) for item in top.sections("outputs")),
            memory=_memory(top.section("memory"), names),
            slots=tuple(_slot(item, names, len(steps)) for item in top.sections("slots")),
            steps=steps,
            reference=tuple(_reference(item, names) for item in top.sections("reference", ())),
            members=_members(top.section("members", None)),
        )
        _check_whole(top, manifest)
        return manifest


def _as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    return [_as_json(item) for item in value] if isinstance(value, tuple) else value


def check_format(top: Fields) -> None:
    """Raises ArtifactError when ``format`` is missing or newer than this version understands."""
    number = top.integer("format", minimum=1)
    if number > FORMAT:
        raise top.fault(
            "format",
            "is newer than this cuvil-edge",
            expected=f"at most {FORMAT}",
            found=str(number),
            hint="update cuvil-edge (pip install --upgrade cuvil-edge), or compile the model with this version",
        )


def decode_json(data: bytes, source: str) -> Any:
    """JSON text to values; raises ArtifactError for bad UTF-8, bad syntax, repeated keys and NaN."""

    def refuse(what: str) -> NoReturn:
        raise ArtifactError(
            "is not valid JSON", thing=source, found=what, hint="the file is damaged: compile the model again"
        )

    def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(result := dict(pairs)) != len(pairs):
            refuse("the same key twice in one table")
        return result

    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=table, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        refuse(str(error).splitlines()[0][:200])


def _model(fields: Fields) -> ModelInfo:
    return ModelInfo(_safe_name(fields, "name"), _sha256(fields, "sha256"), fields.text("source"))


def _target(fields: Fields) -> TargetInfo:
    board = fields.get("board", None)
    return TargetInfo(
        name=_safe_name(fields, "name"),
        board=None if board is None else _safe_name(fields, "board"),
        isa=fields.text("isa"),
        arch=fields.text("arch"),
        triple=fields.text("triple"),
        cpu=fields.text("cpu"),
        required_features=fields.texts("required_features"),
    )


def _symbol(fields: Fields) -> SymbolInfo:
    least = fields.integer("min", 1)
    most = fields.get("max", None)
    return SymbolInfo(
        name=fields.text("name"),
        min=least,
        max=None if most is None else fields.integer("max", minimum=least),
        multiple_of=fields.integer("multiple_of", 1, minimum=1),
    )


def _tensor(fields: Fields, symbols: frozenset[str]) -> TensorInfo:
    return TensorInfo(fields.text("name"), _dtype(fields), _shape(fields, symbols))


def _value(fields: Fields, symbols: frozenset[str]) -> ValueInfo:
    return ValueInfo(fields.text("value"), _dtype(fields), _shape(fields, symbols))


def _memory(fields: Fields, symbols: frozenset[str]) -> MemoryInfo:
    arena = None
    if fields.get("arena", None) is not None:
        part: Fields = fields.section("arena")
        arena = ArenaInfo(_bindings(part, symbols), part.integer("planned_bytes"), part.integer("lower_bound_bytes"))
    return MemoryInfo(fields.integer("weights_bytes"), arena)


def _slot(fields: Fields, symbols: frozenset[str], step_count: int) -> SlotInfo:
    first = fields.integer("first_step")
    return SlotInfo(
        kind=fields.text("kind", choices=("arena", "input", "output")),
        first_step=first,
        last_step=fields.integer("last_step", minimum=first, maximum=max(first, step_count - 1)),
        bytes=_expression(fields, "bytes", fields.get("bytes"), symbols),
        values=fields.texts("values", ()),
    )


def _step(fields: Fields, symbols: frozenset[str]) -> StepInfo:
    return StepInfo(
        name=fields.text("name"),
        op=fields.text("op"),
        kernel=fields.text("kernel"),
        layers=fields.texts("layers"),
        dtype=_dtype(fields),
        inputs=tuple(_value(item, symbols) for item in fields.sections("inputs")),
        outputs=tuple(_value(item, symbols) for item in fields.sections("outputs")),
        flops=_expression(fields, "flops", fields.get("flops"), symbols),
        bytes_read=_expression(fields, "bytes_read", fields.get("bytes_read"), symbols),
        bytes_written=_expression(fields, "bytes_written", fields.get("bytes_written"), symbols),
        weights_bytes=fields.integer("weights_bytes"),
    )


def _reference(fields: Fields, symbols: frozenset[str]) -> ReferenceCase:
    return ReferenceCase(
        name=_safe_name(fields, "name"),
        symbols=_bindings(fields, symbols),
        inputs=_reference_members(fields, "inputs"),
        input_shapes=_shapes(fields, "input_shapes"),
        outputs=_reference_members(fields, "outputs"),
        output_shapes=_shapes(fields, "output_shapes"),
        relative_tolerance=fields.number("relative_tolerance"),
        absolute_tolerance=fields.number("absolute_tolerance"),
    )


def _members(fields: Fields | None) -> dict[str, MemberInfo]:
    members: dict[str, MemberInfo] = {}
    for name in fields.names() if fields is not None else ():
        assert fields is not None
        if reason := member_name_fault(name):
            raise fields.fault(name, reason, hint="the file was not made by cuvil-edge, or was changed")
        members[name] = _member(fields.section(name))
    return members


def _member(fields: Fields) -> MemberInfo:
    size, chunk_bytes = fields.integer("bytes"), fields.integer("chunk_bytes", CHUNK_BYTES, minimum=4096)
    chunks = fields.texts("chunk_sha256", ())
    for index, chunk in enumerate(chunks):
        if not _SHA256.fullmatch(chunk):
            raise fields.fault(
                f"chunk_sha256[{index}]", "has a wrong value", expected=_SHA256_EXPECTED, found=show(chunk)
            )
    if chunks and len(chunks) != -(-size // chunk_bytes):
        raise fields.fault(
            "chunk_sha256", "has a wrong length", expected=str(-(-size // chunk_bytes)), found=str(len(chunks))
        )
    return MemberInfo(size, _sha256(fields, "sha256"), chunk_bytes, chunks)


def _safe_name(fields: Fields, key: str) -> str:
    return str(fields.text(key, pattern=NAME_PATTERN, expected=NAME_EXPECTED))


def _sha256(fields: Fields, key: str) -> str:
    return str(fields.text(key, pattern=_SHA256, expected=_SHA256_EXPECTED))


def _dtype(fields: Fields) -> str:
    return str(fields.text("dtype", choices=DTYPES))


def _expression(fields: Fields, key: str, value: object, symbols: frozenset[str]) -> Expr:
    if is_integer(value) and isinstance(value, int) and 0 <= value <= INT64_MAX:
        return value
    if not isinstance(value, str):
        raise fields.fault(
            key, "has a wrong value", expected="an integer of at least 0 or an expression", found=show(value)
        )
    try:
        unknown = sorted(parse(value).symbols - symbols)
    except ArtifactError as error:
        raise fields.fault(key, error.what, expected=error.expected, found=error.found) from None
    if unknown:
        known = ", ".join(sorted(symbols)) or "none"
        raise fields.fault(key, f'uses the symbol "{unknown[0]}"', expected=f"symbols of this model: {known}")
    return value


def _shape(fields: Fields, symbols: frozenset[str]) -> Shape:
    values = fields.items("shape")
    if len(values) > _MAX_RANK:
        raise fields.fault("shape", "has a wrong length", expected=f"at most {_MAX_RANK}", found=str(len(values)))
    return tuple(_expression(fields, f"shape[{i}]", value, symbols) for i, value in enumerate(values))


def _shapes(fields: Fields, key: str) -> tuple[tuple[int, ...], ...]:
    shapes = fields.items(key)
    for index, shape in enumerate(shapes):
        right = isinstance(shape, list | tuple) and len(shape) <= _MAX_RANK
        if not right or not all(is_integer(extent) and 0 <= extent <= INT64_MAX for extent in shape):
            raise fields.fault(f"{key}[{index}]", "has a wrong value", expected="a list of integers of at least 0")
    return tuple(tuple(shape) for shape in shapes)


def _bindings(fields: Fields, symbols: frozenset[str]) -> dict[str, int]:
    part: Fields = fields.section("symbols")
    for name in part.names():
        if name not in symbols:
            raise part.fault(name, "is not a symbol of this model", expected=", ".join(sorted(symbols)) or "none")
    return {name: part.integer(name) for name in part.names()}


def _reference_members(fields: Fields, key: str) -> tuple[str, ...]:
    names: tuple[str, ...] = fields.texts(key)
    for index, name in enumerate(names):
        reason = member_name_fault(name)
        if reason or PurePosixPath(name).parts[0] != "reference":
            raise fields.fault(f"{key}[{index}]", reason or "is not in reference/", found=show(name))
    return names


def _refuse_repeats(fields: Fields, key: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            raise fields.fault(f"{key}[{index}].name", "is used twice", found=show(name))
        seen.add(name)


def _check_whole(top: Fields, manifest: Manifest) -> None:
    _refuse_repeats(top, "inputs", [tensor.name for tensor in manifest.inputs])
    _refuse_repeats(top, "outputs", [tensor.name for tensor in manifest.outputs])
    _refuse_repeats(top, "reference", [case.name for case in manifest.reference])
    for index, case in enumerate(manifest.reference):
        counts = (len(case.inputs), len(case.input_shapes), len(case.outputs), len(case.output_shapes))
        expected = (len(manifest.inputs),) * 2 + (len(manifest.outputs),) * 2
        if counts != expected:
            raise top.fault(
                f"reference[{index}]",
                "does not have one member and one shape for each input and output",
                expected=str(expected),
                found=str(counts),
            )
        for name in (*case.inputs, *case.outputs):
            if manifest.members and name not in manifest.members:
                raise top.fault(f"reference[{index}]", f'names the member "{name}", which does not exist')
