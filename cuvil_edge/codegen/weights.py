"""The artifact's weights: packed constants at aligned offsets, equal ones stored once."""

from __future__ import annotations

import hashlib

import numpy as np

from cuvil_edge.ir.plan import align


class WeightsBuilder:
    """Collects constant data; offsets are final as soon as they are given."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._offsets: dict[bytes, int] = {}
        self.size_bytes = 0

    def add(self, array: np.ndarray) -> int:
        """The offset in bytes of ``array``'s elements (little-endian, row-major), a multiple of the alignment."""
        data = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False)).tobytes()
        key = hashlib.sha256(data).digest()
        if key not in self._offsets:
            self._offsets[key] = self.size_bytes
            padding = align(len(data)) - len(data)
            self._chunks.append(data + bytes(padding))
            self.size_bytes += len(data) + padding
        return self._offsets[key]

    def to_bytes(self) -> bytes:
        """The whole of ``weights.bin``."""
        return b"".join(self._chunks)
