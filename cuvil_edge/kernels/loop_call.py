"""Kernel calls that execute a nest: the shared lowering of element-wise work and of movements of data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cuvil_edge.ir.dim import Extent, ceildiv, floordiv, maximum, minimum, product
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.scalar import ScalarExpr
from cuvil_edge.kernels.expression import ELEMENT_TYPES, is_vector_expression, render_body
from cuvil_edge.kernels.kernel import KERNEL_NAME, Kernel, KernelCall, Operand
from cuvil_edge.kernels.nest import Access, Nest, collapse, reorder

ITEM_ELEMENTS = 16384
"""Elements of one work item: some microseconds at the speed of memory, where starting a thread's part costs less."""

COPY_TYPES = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t", 8: "uint64_t"}
"""C++ types that elements of a size are moved as."""

_COLUMN_STEP = 64
_SMALL_EXTENT = 4
_LONGEST_PERIOD = 256
_SHORTEST_FLATTENED = 1024
_TILE_BYTES = 8192
"""``kTileBytes`` of ``csrc/kernels/loop/periodic.h``."""


@dataclass(frozen=True)
class Split:
    """How an iteration space of outer points times inner elements is cut into work items."""

    outer_per_item: Extent
    inner_per_item: Extent
    items: Extent


def split_work(outer: Extent, inner: Extent, item_elements: int = ITEM_ELEMENTS, step: int = _COLUMN_STEP) -> Split:
    """Blocks of whole inner rows, or of parts of one where a row is longer than an item; few elements are one item."""
    if isinstance(inner, int):
        blocks = max(1, inner // item_elements)
        inner_per_item: Extent = -(-inner // (blocks * step)) * step if blocks > 1 else max(1, inner)
    else:
        inner_per_item = item_elements // step * step
    outer_per_item = maximum(1, floordiv(item_elements, maximum(inner, 1)))
    if isinstance(outer, int) and isinstance(outer_per_item, int):
        outer_per_item = max(1, min(outer, outer_per_item))
    return Split(outer_per_item, inner_per_item, ceildiv(outer, outer_per_item) * ceildiv(inner, inner_per_item))


def expression_call(
    label: str, expression: ScalarExpr, nest: Nest, dtypes: Sequence[DType], operands: Sequence[Operand]
) -> KernelCall:
    """The call that writes ``expression`` of the inputs over ``nest``.

    Args:
        label: first part of the kernel's name.
        expression: ``Arg(i)`` is operand ``i``.
        nest: one access for each operand; the last one is written.
        dtypes: element type of each operand.
        operands: what the kernel reads, then what it writes.
    """
    nest = collapse(nest)
    period = _period(nest)
    names = [f"a{index}" for index in range(len(operands) - 1)]
    statements, result = render_body(expression, names)
    parameters = ", ".join(f"[[maybe_unused]] auto {name}" for name in names)
    vector = is_vector_expression(expression)
    body = "\n".join([f"    {statement}" for statement in statements] + [f"    return {result};"])
    element_types = [ELEMENT_TYPES[dtype] for dtype in dtypes]
    if period:
        nest, types = _flattened(nest, element_types)
    else:
        types = _typed_operands(nest, element_types)
    source = _EXPRESSION_SOURCE.format(
        header="periodic" if period else "loop",
        function="run_periodic" if period else "run",
        vector="true" if vector else "false",
        parameters=parameters,
        body=body,
        rank=len(nest.extents),
        types=types,
        name=KERNEL_NAME,
    )
    call = _loop_call(label, source, nest, operands, period or _COLUMN_STEP)
    if not period:
        return call
    return replace(call, extents=(*call.extents, period), scratch_bytes=_TILE_BYTES * len(names))


def copy_call(label: str, nest: Nest, dtype: DType, source: Operand, destination: Operand) -> KernelCall:
    """The call that copies elements over a nest of two accesses (read, written), by way of tiles if it transposes."""
    nest = collapse(nest)
    read, written = nest.accesses
    if len(nest.extents) > 1 and read.strides[-1] not in (0, 1) and written.strides[-1] == 1 and 1 in read.strides:
        return _transpose_call(label, nest, dtype, source, destination)
    type_ = COPY_TYPES[dtype.item_bytes]
    code = _COPY_SOURCE.format(rank=len(nest.extents), types=_typed_operands(nest, [type_, type_]), name=KERNEL_NAME)
    return _loop_call(label, code, nest, (source, destination))


_EXPRESSION_SOURCE = """#include "kernels/loop/{header}.h"
#include "simd/math.h"
namespace {{
using namespace cuvil::kernels::loop;
struct Expression {{
  static constexpr bool kVector = {vector};
  template <class V>
  static CUVIL_INLINE auto apply({parameters}) {{
{body}
  }}
}};
}}  // namespace
extern "C" cuvil_status {name}(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin,
                               uint32_t end) {{
  return {function}<Expression, {rank}, {types}>(operands, extents, scratch, begin, end);
}}
"""

_COPY_SOURCE = """#include "kernels/loop/loop.h"
using cuvil::kernels::loop::Typed;
using cuvil::kernels::loop::Walk;
extern "C" cuvil_status {name}(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin,
                               uint32_t end) {{
  using cuvil::kernels::loop::Identity;
  return cuvil::kernels::loop::run<Identity, {rank}, {types}>(operands, extents, scratch, begin, end);
}}
"""

_TRANSPOSE_SOURCE = """#include "kernels/loop/transpose.h"
extern "C" cuvil_status {name}(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin,
                               uint32_t end) {{
  using namespace cuvil::kernels::loop;
  return run_transpose<{type}, {rank}, {small_a}, {small_b}>(operands, extents, scratch, begin, end);
}}
"""


def _typed_operands(nest: Nest, types: Sequence[str]) -> str:
    """Template arguments of the operands, the output first."""
    walks = {0: "kRepeat", 1: "kContiguous"}
    texts = []
    for access, type_ in zip(nest.accesses, types, strict=True):
        step = access.strides[-1]
        walk = walks.get(step, "kStrided") if isinstance(step, int) else "kStrided"
        texts.append(f"Typed<{type_}, Walk::{walk}>")
    return ", ".join([texts[-1], *texts[:-1]])


def _period(nest: Nest) -> int:
    """The innermost extent, if it is short and only inputs that repeat it keep it from being part of a long row."""
    if len(nest.extents) < 2:
        return 0
    repeats, extent = nest.extents[-2:]
    if not isinstance(extent, int) or extent > _LONGEST_PERIOD:
        return 0
    if isinstance(repeats, int) and repeats * extent < _SHORTEST_FLATTENED:
        return 0
    whole = (extent, 1)
    fits = all(access.strides[-2:] in (whole, (0, 1), (0, 0)) for access in nest.accesses)
    return extent if fits and nest.output.strides[-2:] == whole else 0


def _flattened(nest: Nest, types: Sequence[str]) -> tuple[Nest, str]:
    """The nest with its last two axes as one, and the template arguments, in which repeating inputs are periodic."""
    accesses = tuple(Access((*access.strides[:-2], access.strides[-1])) for access in nest.accesses)
    texts = [types[-1]]
    for access, type_ in zip(nest.accesses[:-1], types, strict=False):
        walk = "kRepeat" if access.strides[-1] == 0 else "kContiguous"
        texts.append(f"Periodic<{type_}>" if access.strides[-2:] == (0, 1) else f"Typed<{type_}, Walk::{walk}>")
    return Nest((*nest.extents[:-2], nest.extents[-2] * nest.extents[-1]), accesses), ", ".join(texts)


def _loop_call(
    label: str, source: str, nest: Nest, operands: Sequence[Operand], column_step: int = _COLUMN_STEP
) -> KernelCall:
    split = split_work(product(nest.extents[:-1]), nest.extents[-1], step=column_step)
    strides = [stride for access in nest.accesses for stride in access.strides]
    extents = (*nest.extents, split.outer_per_item, split.inner_per_item, *strides)
    return KernelCall(Kernel.create(label, source), tuple(operands), extents, split.items)


def _transpose_call(label: str, nest: Nest, dtype: DType, source: Operand, destination: Operand) -> KernelCall:
    """Copies where another axis is contiguous in the input (A) than in the output (B, the last one)."""
    rank = len(nest.extents)
    axis = nest.accesses[0].strides.index(1)
    nest = reorder(nest, [*(other for other in range(rank - 1) if other != axis), axis, rank - 1])
    a, b = nest.extents[-2:]
    read, written = nest.accesses
    small_b = _small(b)
    small_a = 0 if small_b else _small(a)
    code = _TRANSPOSE_SOURCE.format(
        type=COPY_TYPES[dtype.item_bytes], rank=rank, small_a=small_a, small_b=small_b, name=KERNEL_NAME
    )
    outer = product(nest.extents[:-2])
    a_split, b_split = _split_plane(a, b)
    outer_per_item = maximum(1, floordiv(ITEM_ELEMENTS, maximum(a, 1) * maximum(b, 1)))
    items = ceildiv(outer, outer_per_item) * ceildiv(a, a_split) * ceildiv(b, b_split)
    strides = (*read.strides[:-2], read.strides[-1], *written.strides[:-1])
    extents = (*nest.extents, outer_per_item, a_split, b_split, *strides)
    return KernelCall(Kernel.create(label, code), (source, destination), extents, items)


def _small(extent: Extent) -> int:
    return extent if isinstance(extent, int) and 1 < extent <= _SMALL_EXTENT else 0


def _split_plane(a: Extent, b: Extent) -> tuple[Extent, Extent]:
    """Extents of A and of B in one work item, in whole cache lines: A is cut, or B where A is short."""
    if isinstance(a, int) and isinstance(b, int) and a * b <= 2 * ITEM_ELEMENTS:
        return max(a, 1), max(b, 1)
    if isinstance(a, int) and a <= 2 * _COLUMN_STEP:
        return max(a, 1), minimum(maximum(b, 1), _lines(a))
    return _lines(b), maximum(b, 1)


def _lines(other: Extent) -> Extent:
    """A multiple of whole cache lines that makes an item with the extent of the other axis."""
    return maximum(_COLUMN_STEP, floordiv(ITEM_ELEMENTS, maximum(other, 1)) // _COLUMN_STEP * _COLUMN_STEP)
