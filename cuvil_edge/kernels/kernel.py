"""What lowering makes of a node: calls of generated kernels. See ``cuvil_kernel_fn`` in ``csrc/abi/cuvil_abi.h``."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.dim import Extent
from cuvil_edge.ir.graph import Value

KERNEL_NAME = "KERNEL_NAME"
"""Stands for the function's name in a kernel's source."""


@dataclass(frozen=True)
class Kernel:
    """One generated C++ function of type ``cuvil_kernel_fn``; equal sources are one kernel, shared between models.

    ``source`` is a whole translation unit that includes headers of ``csrc/`` and defines
    ``extern "C" cuvil_status <name>(...)``.
    """

    name: str
    source: str

    @staticmethod
    def create(label: str, source: str) -> Kernel:
        """A kernel named ``<label>_<hash>``; ``source`` uses the token ``KERNEL_NAME`` as the function's name."""
        digest = hashlib.sha256(source.encode()).hexdigest()[:12]
        name = f"{label}_{digest}"
        return Kernel(name, source.replace(KERNEL_NAME, name))


@dataclass(frozen=True)
class Operand:
    """What a kernel's operand pointer points to: a value of the graph, or packed constant data.

    ``offset_bytes`` is added to the pointer (a slice, or a part of a concatenation).
    """

    value: Value | None = None
    packed: np.ndarray | None = None
    offset_bytes: Extent = 0


NOTHING = Operand(packed=np.zeros(0, np.float32))
"""An operand that the kernel does not read."""


@dataclass(frozen=True)
class KernelCall:
    """One step of the plan: the kernel, its arguments, and how its work may be split.

    ``work_items`` is the number of independent parts; each should cost at least some microseconds, so that small steps
    have one. ``scratch_bytes`` is needed by each worker. ``notes`` say why this schedule was chosen.
    """

    kernel: Kernel
    operands: tuple[Operand, ...]
    extents: tuple[Extent, ...]
    work_items: Extent = 1
    scratch_bytes: Extent = 0
    notes: str = ""
