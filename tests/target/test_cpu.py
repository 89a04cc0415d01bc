"""CPU models: the compilers must not be told of an instruction that the model's features do not cover.

A wrong entry here is an illegal instruction on somebody's board, so the compiler itself is asked what each spelling
switches on.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cuvil_edge.target.cpu import Cpu, cpu_names, find_cpu, load_cpu
from cuvil_edge.target.isa import isa_names, load_isa

# What a compiler defines when an instruction-set extension is on, and the name of that extension in /proc/cpuinfo.
MACROS = {
    "__ARM_FEATURE_AES": "aes",
    "__ARM_FEATURE_SHA2": "sha2",
    "__ARM_FEATURE_CRC32": "crc32",
    "__ARM_FEATURE_ATOMICS": "atomics",
    "__ARM_FEATURE_FP16_SCALAR_ARITHMETIC": "fphp",
    "__ARM_FEATURE_FP16_VECTOR_ARITHMETIC": "asimdhp",
    "__ARM_FEATURE_QRDMX": "asimdrdm",
    "__ARM_FEATURE_RCPC": "lrcpc",
    "__ARM_FEATURE_DOTPROD": "asimddp",
    "__ARM_FEATURE_MATMUL_INT8": "i8mm",
    "__ARM_FEATURE_BF16": "bf16",
    "__ARM_FEATURE_JCVT": "jscvt",
    "__ARM_FEATURE_COMPLEX": "fcma",
    "__ARM_FEATURE_SHA3": "sha3",
    "__ARM_FEATURE_SHA512": "sha512",
    "__ARM_FEATURE_FP16_FML": "asimdfhm",
    "__ARM_FEATURE_FRINT": "frint",
    "__ARM_FEATURE_SVE": "sve",
    "__ARM_FEATURE_PAUTH": "paca",
    "__ARM_FEATURE_RNG": "rng",
    "__AVX__": "avx",
    "__AVX2__": "avx2",
    "__FMA__": "fma",
    "__F16C__": "f16c",
    "__BMI__": "bmi1",
    "__BMI2__": "bmi2",
    "__LZCNT__": "abm",
    "__MOVBE__": "movbe",
    "__POPCNT__": "popcnt",
    "__SSE3__": "pni",
    "__SSSE3__": "ssse3",
    "__SSE4_1__": "sse4_1",
    "__SSE4_2__": "sse4_2",
    "__AVX512F__": "avx512f",
    "__AVX512BW__": "avx512bw",
    "__AVX512CD__": "avx512cd",
    "__AVX512DQ__": "avx512dq",
    "__AVX512VL__": "avx512vl",
    "__AVX512VNNI__": "avx512_vnni",
    "__AVX512VBMI__": "avx512vbmi",
    "__AVX512BF16__": "avx512_bf16",
    "__AVX512FP16__": "avx512_fp16",
    "__AVXVNNI__": "avx_vnni",
    "__GFNI__": "gfni",
    "__SHA__": "sha_ni",
    "__AES__": "aes",
    "__VAES__": "vaes",
    "__PCLMUL__": "pclmulqdq",
    "__ADX__": "adx",
    "__RDRND__": "rdrand",
    "__RDSEED__": "rdseed",
    "__PKU__": "pku",
    "__CLWB__": "clwb",
    "__WAITPKG__": "waitpkg",
}
# Features that switch on no macro of their own, or come with another one.
IMPLIED = {"asimd", "pmull", "sha1", "cx16"}

SPELLINGS = [(load_cpu(name).arch, load_cpu(name).flags.zig, load_cpu(name).features) for name in cpu_names()]
SPELLINGS += [
    (arch, flags.zig, load_isa(name).required_features)
    for name in isa_names()
    for arch, flags in load_isa(name).cpu.items()
]


def _compiled_features(arch: str, zig_cpu: str, folder: Path) -> set[str]:
    source = folder / "empty.c"
    source.write_text("")
    command = [sys.executable, "-m", "ziglang", "cc", "-target", f"{arch}-linux-musl", f"-mcpu={zig_cpu}"]
    done = subprocess.run(
        [*command, "-dM", "-E", "-x", "c", str(source)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    defined = {line.split()[1] for line in done.stdout.splitlines() if line.startswith("#define ")}
    return {feature for macro, feature in MACROS.items() if macro in defined}


@pytest.mark.cross
@pytest.mark.parametrize(
    ("arch", "zig_cpu", "features"), SPELLINGS, ids=lambda value: value if str(value) == value else ""
)
def test_the_compiler_uses_exactly_what_the_features_cover(
    arch: str, zig_cpu: str, features: tuple[str, ...], tmp_path: Path
) -> None:
    assert _compiled_features(arch, zig_cpu, tmp_path) == set(features) - IMPLIED


@pytest.mark.parametrize("name", ["cortex_a53", "cortex_a72"])
def test_the_first_raspberry_pis_get_no_crypto_no_atomics_no_dot_product(name: str) -> None:
    assert not {"aes", "pmull", "sha1", "sha2", "atomics", "asimddp", "fphp", "asimdhp"} & set(load_cpu(name).features)


@pytest.mark.parametrize("name", cpu_names())
def test_models_that_can_be_recognised_are(name: str) -> None:
    cpu = load_cpu(name)
    if cpu.part is not None:
        assert find_cpu(cpu.implementer, cpu.part) == cpu


def test_unknown_models_are_not_recognised() -> None:
    assert find_cpu(0x41, 0xFFF) is None
    assert find_cpu(None, None) is None
    assert find_cpu(None, 0xD08) is None


@pytest.mark.cross
def test_qemu_has_the_models(qemu: str) -> None:
    done = subprocess.run([qemu, "-cpu", "help"], capture_output=True, text=True, timeout=30, check=False)
    known = done.stdout.split()
    cpus: list[Cpu] = [load_cpu(name) for name in cpu_names()]
    for cpu in cpus:
        assert cpu.qemu is None or cpu.qemu in known
