"""The parts of a manifest, as frozen dataclasses, and the rules for the names in it.

An extent, a size or a FLOP count (``Expr``) is an int, or a text that is an expression over the model's symbols.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cuvil_edge.artifact.expression import evaluate

CHUNK_BYTES: Final = 4 << 20
"""Members are hashed in chunks of this size, so that threads can share the work of a large one."""
DTYPES: Final = ("f32", "f16", "bf16", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool")

Expr = int | str
Shape = tuple[Expr, ...]

NAME_PATTERN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}")
NAME_EXPECTED: Final = "letters, digits and . _ + - (at most 128), starting with a letter or digit"


def is_safe_name(name: str) -> bool:
    """True for a name that is also one safe path component: what models and targets must be called."""
    return NAME_PATTERN.fullmatch(name) is not None


def safe_name(text: str, default: str = "model") -> str:
    """``text`` as such a name: without accents, ``_`` for each run of other characters; ``default`` for nothing."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9._+-]+", "_", plain).lstrip("._+-")[:128].rstrip("_") or default


def member_name_fault(name: str) -> str | None:
    """Why a member name cannot be used (it could lead out of a folder, or reads differently elsewhere), or None."""
    if not name or len(name.encode("utf-8", "surrogatepass")) > 512:
        return "is empty or longer than 512 bytes"
    if any(ord(c) < 32 or ord(c) == 127 or "\ud800" <= c <= "\udfff" for c in name):
        return "has a control character"
    if "\\" in name or ":" in name:
        return "has a backslash or a colon"
    if any(part in ("", ".", "..") for part in name.split("/")):
        return "is absolute, or has an empty, . or .. component"
    return None


@dataclass(frozen=True)
class ModelInfo:
    """The user's model: name (also a folder name on a device), sha256 of its bytes, and the front end that read it."""

    name: str
    sha256: str
    source: str


@dataclass(frozen=True)
class TargetInfo:
    """What the code was compiled for. ``required_features`` are spelled as in /proc/cpuinfo."""

    name: str
    board: str | None
    isa: str
    arch: str
    triple: str
    cpu: str
    required_features: tuple[str, ...] = ()


@dataclass(frozen=True)
class SymbolInfo:
    """A symbolic dimension: ``min``..``max`` (inclusive; None is unbounded), always a multiple of ``multiple_of``."""

    name: str
    min: int = 1
    max: int | None = None
    multiple_of: int = 1


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of the model: a dense row-major tensor."""

    name: str
    dtype: str
    shape: Shape

    def extents(self, symbols: Mapping[str, int]) -> tuple[int, ...]:
        """The shape for the given values of the symbols."""
        return tuple(evaluate(extent, symbols) for extent in self.shape)


@dataclass(frozen=True)
class ValueInfo:
    """An operand of a step: a value of the plan."""

    value: str
    dtype: str
    shape: Shape

    def extents(self, symbols: Mapping[str, int]) -> tuple[int, ...]:
        """The shape for the given values of the symbols."""
        return tuple(evaluate(extent, symbols) for extent in self.shape)


@dataclass(frozen=True)
class ArenaInfo:
    """The arena at given symbols: planned bytes, and the lower bound (largest sum of values alive together)."""

    symbols: Mapping[str, int]
    planned_bytes: int
    lower_bound_bytes: int


@dataclass(frozen=True)
class MemoryInfo:
    """Memory that a run needs besides the inputs and outputs; ``arena`` is None when the compiler made no example."""

    weights_bytes: int
    arena: ArenaInfo | None = None


@dataclass(frozen=True)
class SlotInfo:
    """A buffer (``kind``: arena, input or output), alive in the closed range of steps, and the values it holds."""

    kind: str
    first_step: int
    last_step: int
    bytes: Expr
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class StepInfo:
    """One kernel call. ``layers`` are the user's names of everything that was fused into it."""

    name: str
    op: str
    kernel: str
    layers: tuple[str, ...]
    dtype: str
    inputs: tuple[ValueInfo, ...]
    outputs: tuple[ValueInfo, ...]
    flops: Expr
    bytes_read: Expr
    bytes_written: Expr
    weights_bytes: int


@dataclass(frozen=True)
class ReferenceCase:
    """Inputs with known right outputs, as members of raw little-endian row-major tensors, and how near is right."""

    name: str
    symbols: Mapping[str, int]
    inputs: tuple[str, ...]
    input_shapes: tuple[tuple[int, ...], ...]
    outputs: tuple[str, ...]
    output_shapes: tuple[tuple[int, ...], ...]
    relative_tolerance: float
    absolute_tolerance: float


@dataclass(frozen=True)
class MemberInfo:
    """Size and hashes of a member: of the whole, and of each chunk of ``chunk_bytes`` (the last may be shorter)."""

    bytes: int
    sha256: str
    chunk_bytes: int = CHUNK_BYTES
    chunk_sha256: tuple[str, ...] = ()
