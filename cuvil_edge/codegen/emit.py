"""Stage 6: the model's own source, plain C: tables, one small function a step, and ``resolve``.

It contains no arithmetic on tensors (kernels do that) and is compiled for the architecture's baseline, so that asking a
model what it needs can never trap.
"""

from __future__ import annotations

from collections.abc import Iterable

from cuvil_edge.ir.check import Check
from cuvil_edge.ir.dim import UNBOUNDED, Dim, Extent, Symbol, render
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.plan import OperandRef, Plan, PlanTensor, Step
from cuvil_edge.target.target import Target

_PRELUDE = """\
#include "abi/cuvil_abi.h"

/* Saturating arithmetic: an absurd extent becomes an absurd size, which the runtime refuses, and never wraps. */
static inline int64_t cuvil_add(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_add_overflow(a, b, &r) ? (a > 0 ? INT64_MAX : INT64_MIN) : r;
}
static inline int64_t cuvil_mul(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? ((a > 0) == (b > 0) ? INT64_MAX : INT64_MIN) : r;
}
static inline int64_t cuvil_floordiv(int64_t a, int64_t b) {
  if (b == 0) return INT64_MAX;
  int64_t q = a / b;
  return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}
static inline int64_t cuvil_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t cuvil_min(int64_t a, int64_t b) { return a < b ? a : b; }
"""

_RESOLVE_HELPERS = """\
static inline uint64_t cuvil_size(int64_t bytes) { return bytes < 0 ? 0 : (uint64_t)bytes; }
static inline uint32_t cuvil_items(int64_t items) {
  return items <= 0 ? 0 : items > 0x7fffffff ? 0x7fffffffu : (uint32_t)items;
}
static inline cuvil_status cuvil_refuse(cuvil_resolved* out, const char* text, int64_t left, int64_t right) {
  char digits[20];
  uint32_t at = 0;
  if (out->message_bytes == 0) return CUVIL_CHECK_FAILED;
  for (const char* c = text; *c != 0 && at + 1 < out->message_bytes; ++c) {
    if (*c != '\\1' && *c != '\\2') {
      out->message[at++] = *c;
      continue;
    }
    int64_t value = *c == '\\1' ? left : right;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    uint32_t count = 0;
    do digits[count++] = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (value < 0 && at + 1 < out->message_bytes) out->message[at++] = '-';
    while (count > 0 && at + 1 < out->message_bytes) out->message[at++] = digits[--count];
  }
  out->message[at] = 0;
  return CUVIL_CHECK_FAILED;
}
"""


def emit_model(plan: Plan, target: Target, weights_bytes: int, weights_sha256: str) -> str:
    """The C source of a planned model."""
    return _Emitter(plan).emit(target, weights_bytes, weights_sha256)


def _string(text: str) -> str:
    """A C string literal; everything outside printable ASCII is escaped byte by byte."""
    out = "".join(
        chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode("utf-8", "replace")
    )
    return f'"{out}"'


class _Emitter:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.symbol_index = {symbol: index for index, symbol in enumerate(plan.symbols)}
        self.extent_index: dict[Extent, int] = {}

    def emit(self, target: Target, weights_bytes: int, weights_sha256: str) -> str:
        plan = self.plan
        steps = [self._step(index, step) for index, step in enumerate(plan.steps)]
        tensors = [
            self._tensors("inputs", plan.inputs, plan.input_slots),
            self._tensors("outputs", plan.outputs, plan.output_slots),
        ]
        kernels = sorted({step.kernel for step in plan.steps})
        declarations = [
            f"extern cuvil_status {kernel}(void* const*, const int64_t*, void*, uint32_t, uint32_t);"
            for kernel in kernels
        ]
        resolve = self._resolve()
        return "\n".join(
            [
                _PRELUDE,
                *declarations,
                *steps,
                _RESOLVE_HELPERS,
                resolve,
                *tensors,
                self._tables(),
                self._query(target, weights_bytes, weights_sha256),
            ]
        )

    def _value(self, extent: Extent, table: str = "x") -> str:
        """C text of an extent: a literal, or an entry of the table that ``resolve`` fills."""
        if isinstance(extent, int):
            return f"INT64_C({extent})"
        return f"{table}[{self._index(extent)}]"

    def _index(self, extent: Dim) -> int:
        for symbol, index in self.symbol_index.items():
            if extent.terms == {(symbol,): 1}:
                return index
        return self.extent_index.setdefault(extent, len(self.symbol_index) + len(self.extent_index))

    def _formula(self, extent: Extent) -> str:
        """C text that computes an extent from the symbols alone."""

        def leaf(symbol: Symbol) -> str:
            return f"x[{self.symbol_index[symbol]}]"

        return render(extent, leaf, lambda kind, left, right: f"cuvil_{kind}({left}, {right})")

    def _step(self, index: int, step: Step) -> str:
        operands = ",\n      ".join(self._operand(operand) for operand in step.operands) or "0"
        extents = ", ".join(self._value(extent, "a->extents") for extent in step.extents) or "0"
        return (
            f"static cuvil_status step_{index}(const cuvil_step_args* a) {{\n"
            f"  void* const operands[] = {{\n      {operands}}};\n"
            f"  const int64_t extents[] = {{{extents}}};\n"
            f"  return {step.kernel}(operands, extents, a->scratch, a->work_begin, a->work_end);\n"
            "}"
        )

    def _operand(self, operand: OperandRef) -> str:
        offset = self._value(operand.offset_bytes, "a->extents")
        if operand.slot is None:
            return f"(void*)(uintptr_t)(a->weights + {offset})"
        return f"(char*)a->slots[{operand.slot}] + {offset}"

    def _resolve(self) -> str:
        plan = self.plan
        body = [f"  x[{index}] = symbols[{index}];" for index in self.symbol_index.values()]
        scratch: list[Extent] = sorted({step.scratch_bytes for step in plan.steps}, key=str)
        # sizes and checks are rendered before the table is written out, because they may add entries to it
        checks = [self._check(check) for check in plan.checks]
        sizes = [
            f"  out->slot_bytes[{i}] = cuvil_size({self._value(slot.bytes)});" for i, slot in enumerate(plan.slots)
        ]
        items = [
            f"  out->work_items[{i}] = cuvil_items({self._value(step.work_items)});"
            for i, step in enumerate(plan.steps)
        ]
        largest = "INT64_C(0)"
        for extent in scratch:
            largest = f"cuvil_max({largest}, {self._value(extent)})"
        body += [f"  x[{index}] = {self._formula(extent)};" for extent, index in self.extent_index.items()]
        body += [*checks, *sizes, *items, f"  out->scratch_bytes = cuvil_size({largest});", "  return CUVIL_OK;"]
        return (
            "static cuvil_status resolve(const int64_t* symbols, cuvil_resolved* out) {\n"
            "  int64_t* const x = out->extents;\n  (void)symbols;\n  (void)x;\n" + "\n".join(body) + "\n}"
        )

    def _check(self, check: Check) -> str:
        left, right = self._value(check.left), self._value(check.right)
        text = f"{check.message}: {check.left} is \1, {check.right} is \2"
        if check.relation == ">=":
            text = f"{check.message}: {check.left} is \1, at least {check.right} = \2 is needed"
        return f"  if (!({left} {check.relation} {right})) return cuvil_refuse(out, {_string(text)}, {left}, {right});"

    def _tensors(self, label: str, tensors: list[PlanTensor], slots: list[int]) -> str:
        lines = []
        for index, tensor in enumerate(tensors):
            dims = ", ".join(self._dim_ref(extent) for extent in tensor.type.shape) or "0"
            lines.append(f"static const cuvil_dim_ref {label}_{index}[] = {{{dims}}};")
        rows = ",\n    ".join(
            f"{{{_string(tensor.name)}, {_dtype(tensor.type.dtype)}, {tensor.type.rank}, {label}_{index}, {slot}}}"
            for index, (tensor, slot) in enumerate(zip(tensors, slots, strict=True))
        )
        lines.append(f"static const cuvil_tensor {label}[] = {{\n    {rows or '{0}'}}};")
        return "\n".join(lines)

    def _dim_ref(self, extent: Extent) -> str:
        return f"INT64_C({extent})" if isinstance(extent, int) else f"INT64_C({-1 - self._index(extent)})"

    def _tables(self) -> str:
        plan = self.plan
        kinds = {"arena": "CUVIL_SLOT_ARENA", "input": "CUVIL_SLOT_INPUT", "output": "CUVIL_SLOT_OUTPUT"}
        symbols = (
            f"{{{_string(s.name)}, {s.min}, {'CUVIL_UNBOUNDED' if s.max >= UNBOUNDED else s.max}, {s.multiple_of}}}"
            for s in plan.symbols
        )
        slots = (f"{{{kinds[slot.kind]}, {slot.first_step}, {slot.last_step}}}" for slot in plan.slots)
        steps = (
            f"{{{_string(step.name)}, {_string(step.kernel)}, step_{index}}}" for index, step in enumerate(plan.steps)
        )
        return "\n".join(
            [
                _table("cuvil_symbol", "symbol_table", symbols),
                _table("cuvil_slot", "slot_table", slots),
                _table("cuvil_step", "step_table", steps),
            ]
        )

    def _query(self, target: Target, weights_bytes: int, weights_sha256: str) -> str:
        plan = self.plan
        digest = ", ".join(f"0x{byte:02x}" for byte in bytes.fromhex(weights_sha256))
        fields = [
            "CUVIL_ABI_VERSION",
            _string(plan.name),
            _string(target.name),
            _string(target.arch),
            _string(" ".join(target.required_features)),
            f"UINT64_C({weights_bytes})",
            f"{{{digest}}}",
            *map(str, (len(plan.symbols), len(self.symbol_index) + len(self.extent_index))),
            *map(str, (len(plan.inputs), len(plan.outputs), len(plan.slots), len(plan.steps))),
            *("symbol_table", "inputs", "outputs", "slot_table", "step_table", "resolve"),
        ]
        return (
            "static const cuvil_model model = {\n    " + ",\n    ".join(fields) + "};\n"
            '__attribute__((visibility("default"))) const cuvil_model* cuvil_model_query(uint32_t max_abi_version) {\n'
            "  return max_abi_version < CUVIL_ABI_VERSION ? 0 : &model;\n}\n"
        )


def _table(type_name: str, name: str, rows: Iterable[str]) -> str:
    text = ",\n    ".join(rows)
    return f"static const {type_name} {name}[] = {{\n    {text or '{0}'}}};"


def _dtype(dtype: DType) -> str:
    return f"CUVIL_{dtype.value.upper()}"
