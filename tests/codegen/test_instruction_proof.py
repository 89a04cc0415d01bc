"""What is in an artifact's code, byte by byte: no instruction that the board lacks, no library that it may not have.

Risks: a compiler flag, a library of the toolchain or an intrinsic brings in an instruction of a newer architecture, and
the program dies with SIGILL on the board alone; a newer libc is needed than the board has. The disassembler's answer is
not believed before it has found such instructions in code that has them.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import cuvil_edge
from cuvil_edge.board.board import load_board
from cuvil_edge.codegen.build import Builder, Source
from cuvil_edge.config import Config
from tests.codegen.machine_code import (
    assert_sections_cover_all_code,
    beyond_armv8_0,
    beyond_sse2,
    evex_or_mask,
    exported_symbols,
    interpreter,
    needed_libraries,
    needed_versions,
    read_elf,
    undefined_symbols,
    vex,
)
from tests.golden_models import MODELS
from tests.models import every_family_model

pytestmark = pytest.mark.cross

EFFICIENTNET = MODELS / "onnx" / "efficientnet_lite0_folded.onnx"
MODEL_NAMES = ("families", "efficientnet")
PROGRAM_BYTES = 2 << 20
GLIBC = (2, 28)
MEMORY_FUNCTIONS = {"memcpy", "memmove", "memset", "memcmp", "bcmp"}
# name: what Armv8.0-A lacks.
NEWER_ARM = {
    "lse_add": "ldadd w0, w1, [x2]",
    "lse_compare": "casal w0, w1, [x2]",
    "lse_swap": "swp x0, x1, [x2]",
    "rcpc": "ldapr w0, [x1]",
    "dot": "sdot v0.4s, v1.16b, v2.16b",
    "dot_unsigned_lane": "udot v0.4s, v1.16b, v2.4b[1]",
    "i8mm": "smmla v0.4s, v1.16b, v2.16b",
    "bf16": "bfdot v0.4s, v1.8h, v2.8h",
    "half_vector": "fmla v0.8h, v1.8h, v2.8h",
    "half_scalar": "fadd h0, h1, h2",
    "half_widening": "fmlal v0.4s, v1.4h, v2.4h",
    "rounding_doubling": "sqrdmlah v0.4s, v1.4s, v2.4s",
    "complex": "fcmla v0.4s, v1.4s, v2.4s, #90",
    "javascript": "fjcvtzs w0, d0",
    "aes": "aese v0.16b, v1.16b",
    "sha2": "sha256h q0, q1, v2.4s",
    "pmull_64": "pmull v0.1q, v1.1d, v2.1d",
    "sha3": "eor3 v0.16b, v1.16b, v2.16b, v3.16b",
    "sve": "fadd z0.s, z1.s, z2.s",
    "sve_predicate": "ptrue p0.b",
    "pointer_authentication": "retaa",
    "limited_order": "ldlar w0, [x1]",
    "flags": "cfinv",
    "random": "mrs x0, s3_3_c2_c4_0",
}
OLD_ARM = (
    "fmla v0.4s, v1.4s, v2.4s",
    "crc32cb w0, w1, w2",
    "ldaxr w0, [x1]",
    "ldar w0, [x1]",
    "pmull v0.8h, v1.8b, v2.8b",
    "fcvt h0, s1",
    "fcvtl v0.4s, v1.4h",
    "mrs x0, tpidr_el0",
    "paciasp",
    "bti c",
)
NEWER_X86 = {"zmm": "vaddps zmm0, zmm1, zmm2", "evex": "vaddps xmm16, xmm1, xmm2", "mask": "kmovw k1, eax"}


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str, str | None], dict[str, bytes]]:
    """The library and the program of a model for a board, compiled once."""
    made: dict[tuple[str, str, str | None], dict[str, bytes]] = {}

    def get(model: str, board: str, isa: str | None = None) -> dict[str, bytes]:
        if model == "efficientnet" and not EFFICIENTNET.is_file():
            pytest.skip(f"{EFFICIENTNET} is not here")
        key = (model, board, isa)
        if key not in made:
            source = EFFICIENTNET if model == "efficientnet" else every_family_model()
            artifact = cuvil_edge.compile(source, board=board, isa=isa)
            names = (artifact.manifest.library_name, artifact.manifest.program_name)
            made[key] = {name.split("/")[0]: artifact.members[name] for name in names}
        return made[key]

    return get


def assemble(text: str, target: str, folder: Path, march: str) -> bytes:
    """The object of assembler text, for any level of the architecture."""
    source, output = folder / "snippet.s", folder / "snippet.o"
    source.write_text(text + "\n")
    command = [sys.executable, "-m", "ziglang", "cc", "-target", target, march, "-c", str(source), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return output.read_bytes()


def show(found: list) -> str:
    return f"{len(found)} instructions, such as\n" + "\n".join(map(str, found[:10]))


@pytest.mark.parametrize("part", ["lib", "bin"])
@pytest.mark.parametrize("model", MODEL_NAMES)
@pytest.mark.parametrize("board", ["raspberry-pi-4", "raspberry-pi-3", "generic-arm64"])
def test_armv8_0_boards_get_armv8_0_code(board: str, model: str, part: str, code) -> None:
    image = code(model, board)[part]
    assert_sections_cover_all_code(image)
    found = beyond_armv8_0(image)
    assert not found, show(found)


@pytest.mark.parametrize(("board", "is_newer"), [("raspberry-pi-4", False), ("raspberry-pi-5", True)])
def test_the_check_objects_to_what_the_compiler_makes_for_a_newer_board(board: str, is_newer: bool) -> None:
    """An atomic addition is one LSE instruction for a Cortex-A76, and a loop of two for a Cortex-A72."""
    target = load_board(board).target()
    builder = Builder(target, Config.from_environment())
    text = "int add(int* p) { return __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST); }\n"
    source = Source("atomic", text, "c", (*builder.shared.cpu_arguments(target), "-O2", "-fPIC"), ())
    [path] = builder.objects([source])
    assert bool(beyond_armv8_0(path.read_bytes())) == is_newer


@pytest.mark.parametrize("name", NEWER_ARM)
def test_every_kind_of_newer_arm_instruction_is_found(name: str, tmp_path: Path) -> None:
    text = f"{OLD_ARM[0]}\n{NEWER_ARM[name]}\nret"
    image = assemble(text, "aarch64-linux-musl", tmp_path, "-mcpu=generic+v8_6a+sve2+sha3+aes+sha2+fp16fml+fullfp16")
    found = beyond_armv8_0(image)
    assert [each.address for each in found] == [4], show(found)


def test_armv8_0_instructions_are_not_objected_to(tmp_path: Path) -> None:
    image = assemble("\n".join(OLD_ARM), "aarch64-linux-musl", tmp_path, "-mcpu=generic+crc+pauth+bti")
    assert not beyond_armv8_0(image)


@pytest.mark.parametrize("part", ["lib", "bin"])
@pytest.mark.parametrize("model", MODEL_NAMES)
def test_avx2_code_has_no_avx512(model: str, part: str, code) -> None:
    image = code(model, "generic-x86-64")[part]
    assert_sections_cover_all_code(image)
    found = evex_or_mask(image)
    assert not found, show(found)
    if part == "lib":
        assert vex(image), "kernels for AVX2 that do not use it"


@pytest.mark.parametrize("part", ["lib", "bin"])
def test_scalar_code_is_for_every_x86_64(part: str, code) -> None:
    image = code("families", "generic-x86-64", "scalar")[part]
    assert_sections_cover_all_code(image)
    found = beyond_sse2(image)
    assert not found, show(found)


@pytest.mark.parametrize("name", NEWER_X86)
def test_every_kind_of_avx512_instruction_is_found(name: str, tmp_path: Path) -> None:
    text = f".intel_syntax noprefix\nvaddps ymm0, ymm1, ymm2\n{NEWER_X86[name]}\nret"
    image = assemble(text, "x86_64-linux-musl", tmp_path, "-mcpu=x86_64_v4")
    assert [each.address for each in evex_or_mask(image)] == [4]
    assert len(vex(image)) == 2


@pytest.mark.parametrize("text", ["pshufb xmm0, xmm1", "roundps xmm0, xmm1, 1", "popcnt eax, ecx", "crc32 eax, cl"])
def test_every_kind_of_newer_sse_is_found(text: str, tmp_path: Path) -> None:
    image = assemble(
        f".intel_syntax noprefix\naddps xmm0, xmm1\n{text}", "x86_64-linux-musl", tmp_path, "-mcpu=x86_64_v2"
    )
    assert [each.address for each in beyond_sse2(image)] == [3]


@pytest.mark.parametrize("board", ["raspberry-pi-4", "raspberry-pi-5", "generic-x86-64"])
@pytest.mark.parametrize("model", MODEL_NAMES)
def test_the_library_needs_nothing_that_a_board_may_lack(model: str, board: str, code) -> None:
    image = code(model, board)["lib"]
    assert exported_symbols(image) == {"cuvil_model_query"}
    assert undefined_symbols(image) <= MEMORY_FUNCTIONS
    assert not needed_libraries(image)
    versions = {tuple(map(int, name.split("_")[1].split("."))) for name in needed_versions(image)}
    assert all(version <= GLIBC for version in versions), versions


@pytest.mark.parametrize("board", ["raspberry-pi-4", "raspberry-pi-5", "generic-x86-64"])
@pytest.mark.parametrize("model", MODEL_NAMES)
def test_the_program_needs_a_kernel_only(model: str, board: str, code) -> None:
    image = code(model, board)["bin"]
    assert interpreter(image) is None
    assert not needed_libraries(image)
    assert not undefined_symbols(image)
    assert read_elf(image)["e_type"] in ("ET_EXEC", "ET_DYN")
    assert len(image) < PROGRAM_BYTES


@pytest.mark.parametrize("board", ["raspberry-pi-4", "generic-x86-64"])
def test_memory_is_never_writable_and_executable(board: str, code) -> None:
    for image in code("families", board).values():
        stacks = [segment["p_flags"] for segment in read_elf(image).iter_segments("PT_GNU_STACK")]
        assert stacks == [6], "the stack may be executed, or the linker does not say"
