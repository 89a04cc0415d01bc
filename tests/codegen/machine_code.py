"""What is in a compiled ELF file: its instructions, as a disassembler that knows one architecture level reads them."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from elftools.elf.constants import P_FLAGS, SH_FLAGS
from elftools.elf.elffile import ELFFile

ARMV8_0 = ("--triple=aarch64", "--mattr=+fp-armv8,+neon,+crc")
"""The mandatory instructions of Armv8.0-A with Advanced SIMD, and the CRC32 extension: all else reads as unknown."""
X86 = ("--x86-asm-syntax=intel",)
_LINE = re.compile(r"^ *([0-9a-f]+): +((?:[0-9a-f]{2} ?)+) *\t(.*)$")
_TOOLS = ("llvm-objdump", *(f"llvm-objdump-{version}" for version in range(25, 10, -1)))
# Registers that a program may read or write below Linux on every core.
_SYSTEM_REGISTERS = {"tpidr_el0", "fpcr", "fpsr", "dczid_el0", "ctr_el0", "cntvct_el0", "cntfrq_el0", "nzcv"}
_LEGACY_PREFIXES = frozenset((0xF0, 0xF2, 0xF3, 0x2E, 0x36, 0x3E, 0x26, 0x64, 0x65, 0x66, 0x67))


@dataclass(frozen=True)
class Instruction:
    """One instruction: its bytes in memory order and what the disassembler calls it."""

    address: int
    code: bytes
    text: str

    def __str__(self) -> str:
        return f"{self.address:#x}: {self.code.hex(' ')}  {self.text}"


def disassembler() -> str:
    """llvm-objdump; skips the test where there is none."""
    for name in _TOOLS:
        if (found := shutil.which(name)) is not None:
            return found
    pytest.skip("needs llvm-objdump (apt-get install llvm)")


def read_elf(image: bytes) -> ELFFile:
    """The file, parsed."""
    return ELFFile(io.BytesIO(image))


def executable_sections(image: bytes) -> dict[int, bytes]:
    """Address and bytes of every section that may be executed."""
    return {
        section["sh_addr"]: section.data()
        for section in read_elf(image).iter_sections()
        if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR and section["sh_type"] == "SHT_PROGBITS"
    }


def assert_sections_cover_all_code(image: bytes) -> None:
    """Nothing but zero padding is executable outside of sections, so that reading the sections reads all the code."""
    sections = executable_sections(image)
    for segment in read_elf(image).iter_segments("PT_LOAD"):
        if not segment["p_flags"] & P_FLAGS.PF_X:
            continue
        data, start = bytearray(segment.data()), segment["p_vaddr"]
        assert not segment["p_flags"] & P_FLAGS.PF_W, "memory that is writable and executable"
        for address, content in sections.items():
            if start <= address < start + len(data):
                data[address - start : address - start + len(content)] = bytes(len(content))
        assert not any(data), "executable bytes outside of every section"


def instructions(image: bytes, arguments: tuple[str, ...]) -> list[Instruction]:
    """Every instruction of every executable section; fails if a single byte of them was not read.

    Args:
        image: an ELF file: a program, a library or an object.
        arguments: the disassembler's: syntax and architecture level.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "image"
        path.write_bytes(image)
        command = [disassembler(), "-d", "-z", "--no-leading-headers", *arguments, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    found = list(_parse(done.stdout, big_words=ARMV8_0[0] in arguments))
    expected = sum(map(len, executable_sections(image).values()))
    assert found
    assert sum(len(each.code) for each in found) == expected, "the disassembler left bytes out"
    return found


def _parse(listing: str, big_words: bool) -> Iterator[Instruction]:
    for line in listing.splitlines():
        if match := _LINE.match(line):
            code = bytes.fromhex(match[2])
            # Newer versions print an ARM instruction as one number, older ones byte by byte.
            code = code[::-1] if big_words and " " not in match[2].strip() else code
            yield Instruction(int(match[1], 16), code, match[3].strip())


def beyond_armv8_0(image: bytes) -> list[Instruction]:
    """Instructions, and system registers, that a core of Armv8.0-A with CRC32 does not have."""
    return [each for each in instructions(image, ARMV8_0) if _is_beyond_armv8_0(each)]


def _is_beyond_armv8_0(instruction: Instruction) -> bool:
    text = instruction.text.lower()
    if "<unknown>" in text or text.startswith(".inst"):
        return True
    words = re.split(r"[\s,]+", text)
    register = {"mrs": 2, "msr": 1}.get(words[0])
    return register is not None and words[register] not in _SYSTEM_REGISTERS


def evex_or_mask(image: bytes) -> list[Instruction]:
    """Instructions of AVX-512 (and AVX10): EVEX encodings, which begin with 62, and those that use mask registers."""
    return [
        each
        for each in instructions(image, X86)
        if _opcode(each)[:1] == b"\x62" or re.search(r"\b(zmm\d|k[0-7]\b)", each.text) or "<unknown>" in each.text
    ]


def vex(image: bytes) -> list[Instruction]:
    """Instructions of AVX and later: VEX and EVEX encodings, which in 64-bit code are nothing else."""
    return [each for each in instructions(image, X86) if _opcode(each)[:1] in (b"\xc4", b"\xc5", b"\x62")]


def beyond_sse2(image: bytes) -> list[Instruction]:
    """Instructions of SSSE3, SSE4 and later: VEX, EVEX and the opcode maps 0F 38 and 0F 3A; and POPCNT."""
    found = vex(image)
    for each in instructions(image, X86):
        opcode = _opcode(each)
        if opcode[:2] in (b"\x0f\x38", b"\x0f\x3a") or opcode[:2] == b"\x0f\xb8":
            found.append(each)
    return found


def _opcode(instruction: Instruction) -> bytes:
    """The bytes after the legacy prefixes and REX."""
    position = 0
    while position < len(instruction.code) and instruction.code[position] in _LEGACY_PREFIXES:
        position += 1
    if position < len(instruction.code) and instruction.code[position] & 0xF0 == 0x40:
        position += 1
    return instruction.code[position:]


def undefined_symbols(image: bytes) -> set[str]:
    """Names that the dynamic linker must find."""
    table = read_elf(image).get_section_by_name(".dynsym")
    symbols = table.iter_symbols() if table is not None else ()
    return {each.name for each in symbols if each["st_shndx"] == "SHN_UNDEF" and each.name}


def exported_symbols(image: bytes) -> set[str]:
    """Names that others can find."""
    table = read_elf(image).get_section_by_name(".dynsym")
    symbols = table.iter_symbols() if table is not None else ()
    return {each.name for each in symbols if each["st_shndx"] != "SHN_UNDEF" and each.name}


def needed_versions(image: bytes) -> set[str]:
    """Symbol versions that the libraries of the system must have, such as ``GLIBC_2.17``."""
    section = read_elf(image).get_section_by_name(".gnu.version_r")
    pairs = section.iter_versions() if section is not None else ()
    return {auxiliary.name for _, auxiliaries in pairs for auxiliary in auxiliaries}


def needed_libraries(image: bytes) -> set[str]:
    """Libraries that the dynamic linker must load."""
    segments = read_elf(image).iter_segments("PT_DYNAMIC")
    return {tag.needed for segment in segments for tag in segment.iter_tags("DT_NEEDED")}


def interpreter(image: bytes) -> str | None:
    """The dynamic linker that the program asks for; None for a static program."""
    return next((segment.get_interp_name() for segment in read_elf(image).iter_segments("PT_INTERP")), None)
