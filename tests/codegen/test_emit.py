"""Risks: resolve computes other extents than the compiler's arithmetic, wraps, or passes a broken constraint."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

from cuvil_edge.codegen.emit import emit_model
from cuvil_edge.ir.check import Check
from cuvil_edge.ir.dim import Dim, Extent, Symbol, ceildiv, evaluate, floordiv, maximum, minimum
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Cost
from cuvil_edge.ir.plan import OperandRef, Plan, PlanTensor, Slot, Step
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.paths import data_dir
from cuvil_edge.target.target import host_target

H, W = Symbol("height", max=4096), Symbol('odd "name"\\', max=4096)
HD, WD = Dim.of(H), Dim.of(W)
EXTENTS: list[Extent] = [
    HD * WD * 3,
    floordiv(HD - 1, 2) + 1,
    ceildiv(WD * 3, 7) * HD,
    maximum(HD, WD) - minimum(HD, 17),
    floordiv(HD, 3) * floordiv(WD, 5) - 40,
]


class Resolved(ctypes.Structure):
    _fields_ = [
        ("extents", ctypes.POINTER(ctypes.c_int64)),
        ("slot_bytes", ctypes.POINTER(ctypes.c_uint64)),
        ("work_items", ctypes.POINTER(ctypes.c_uint32)),
        ("scratch_bytes", ctypes.c_uint64),
        ("message", ctypes.c_char_p),
        ("message_bytes", ctypes.c_uint32),
    ]


def make_plan(checks: list[Check]) -> Plan:
    tensor = PlanTensor("x", TensorType(DType.F32, (HD, WD)))
    step = Step(
        "copy", "copy", "kernel", ("L",), (OperandRef(0, 0), OperandRef(1, HD * 4), OperandRef(None, 64)),
        tuple(EXTENTS), ceildiv(HD, 16), HD * 64, (tensor,), (tensor,), Cost(0, 0, 0), 0,
    )  # fmt: skip
    slots = [Slot("input", HD * WD * 4, 0, 0), Slot("output", HD * WD * 4, 0, 0), Slot("arena", EXTENTS[0] * 4, 0, 0)]
    return Plan('mo"del', [H, W], [tensor], [PlanTensor("y", tensor.type)], [0], [1], slots, [step], checks)


def build(plan: Plan, folder: Path) -> ctypes.CDLL:
    """The model as a library, with the table of extents and slots read through a test function."""
    text = emit_model(plan, host_target(), 64, "00" * 32)
    text += """
cuvil_status kernel(void* const* p, const int64_t* e, void* s, uint32_t b, uint32_t c) { return CUVIL_OK; }
cuvil_status test_resolve(const int64_t* symbols, cuvil_resolved* out) { return resolve(symbols, out); }
uint32_t test_extent_count(void) { return model.extent_count; }
"""
    source, library = folder / "model.c", folder / "model.so"
    source.write_text(text)
    flags = ["-std=gnu11", "-Wall", "-Wno-unused-parameter", "-Werror", "-shared", "-fPIC", "-I", str(data_dir("csrc"))]
    subprocess.run([shutil.which("cc"), *flags, str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def resolve(library: ctypes.CDLL, symbols: tuple[int, int]) -> tuple[int, list[int], list[int], int, int, str]:
    count = library.test_extent_count()
    extents, slots, items = (ctypes.c_int64 * count)(), (ctypes.c_uint64 * 3)(), (ctypes.c_uint32 * 1)()
    message = ctypes.create_string_buffer(300)
    out = Resolved(extents, slots, items, 0, ctypes.cast(message, ctypes.c_char_p), 300)
    status = library.test_resolve((ctypes.c_int64 * 2)(*symbols), ctypes.byref(out))
    return status, list(extents), list(slots), items[0], out.scratch_bytes, message.value.decode()


needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


@needs_cc
def test_resolve_agrees_with_the_compilers_arithmetic(tmp_path: Path) -> None:
    library = build(make_plan([]), tmp_path)
    for height, width in ((1, 1), (2, 3), (17, 5), (480, 641), (4096, 4096)):
        status, extents, slots, items, scratch, _ = resolve(library, (height, width))
        values = {H.name: height, W.name: width}
        assert status == 0
        assert extents[:2] == [height, width]
        assert {evaluate(extent, values) for extent in EXTENTS} <= set(extents)
        assert slots == [height * width * 4, height * width * 4, height * width * 12]
        assert (items, scratch) == (-(-height // 16), height * 64)


@needs_cc
def test_sizes_saturate_instead_of_wrapping(tmp_path: Path) -> None:
    _, _, slots, _, _, _ = resolve(build(make_plan([]), tmp_path), (2**62, 2**62))
    assert slots[2] == 2**63 - 1


@needs_cc
def test_a_broken_constraint_is_told_with_its_values(tmp_path: Path) -> None:
    check = Check(HD - floordiv(HD, 32) * 32, "==", 0, "height must be a multiple of 32")
    library = build(make_plan([check]), tmp_path)
    assert resolve(library, (64, 3))[0] == 0
    status, *_, message = resolve(library, (70, 3))
    assert status == 1
    assert message.startswith("height must be a multiple of 32")
    assert "is 6," in message
