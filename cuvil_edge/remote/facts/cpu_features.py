"""Instruction-set features that every CPU of the device has, spelled as in /proc/cpuinfo."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from cuvil_edge.remote.facts._base import Fact, key_values

# Linux, arch/arm64/include/uapi/asm/hwcap.h: the bits from 0 on, in words 1 and 2.
_HWCAP = (
    *("fp", "asimd", "evtstrm", "aes", "pmull", "sha1", "sha2", "crc32", "atomics", "fphp", "asimdhp", "cpuid"),
    *("asimdrdm", "jscvt", "fcma", "lrcpc", "dcpop", "sha3", "sm3", "sm4", "asimddp", "sha512", "sve", "asimdfhm"),
    *("dit", "uscat", "ilrcpc", "flagm", "ssbs", "sb", "paca", "pacg"),
)
_HWCAP2 = (
    *("dcpodp", "sve2", "sveaes", "svepmull", "svebitperm", "svesha3", "svesm4", "flagm2", "frint", "svei8mm"),
    *("svef32mm", "svef64mm", "svebf16", "i8mm", "bf16", "dgh", "rng", "bti", "mte"),
)
_AUXV = re.compile(r"^AT_(HWCAP2?):\s*(?:0x)?([0-9a-f]+)\s*$", re.MULTILINE)


class CpuFeatures(Fact):
    """A sorted list. Cores of one chip may differ (big.LITTLE): only what all of them have."""

    commands: ClassVar = {
        "machine": ("uname", "-m"),
        "cpuinfo": ("cat", "/proc/cpuinfo"),
        # The C library prints what the kernel told it, where there is no /proc.
        "auxv": ("sh", "-c", "LD_SHOW_AUXV=1 /bin/true"),
    }

    def parse(self, outputs: Mapping[str, str]) -> list[str] | None:
        """The features, None if nothing tells them (busybox without /proc: the program checks them itself)."""
        is_arm = outputs["machine"].strip() in ("aarch64", "arm64", "armv8l", "armv7l")
        # Under qemu-user, /proc/cpuinfo may be that of the machine below.
        wanted = "Features" if is_arm else "flags"
        lines = [set(value.split()) for key, value in key_values(outputs["cpuinfo"], ":") if key == wanted]
        if lines:
            return sorted(set.intersection(*lines))
        if not is_arm:
            return None
        words = {name: int(value, 16) for name, value in _AUXV.findall(outputs["auxv"])}
        if not words:
            return None
        names = [name for bit, name in enumerate(_HWCAP) if words.get("HWCAP", 0) >> bit & 1]
        return sorted(names + [name for bit, name in enumerate(_HWCAP2) if words.get("HWCAP2", 0) >> bit & 1])
