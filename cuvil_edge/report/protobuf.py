"""Writing protobuf messages: the wire format (protobuf.dev/programming-guides/encoding) and nothing of a schema.

A message is ``bytes``; fields are appended by joining. Enough to write an ONNX file without the onnx package.
"""

from __future__ import annotations

import struct

_VARINT, _BYTES, _FIXED32 = 0, 2, 5


def varint(value: int) -> bytes:
    """A variable-length integer; negative ones are written as 64-bit two's complement.

    Raises:
        ValueError: outside [-2**63, 2**64).
    """
    if not -(1 << 63) <= value < 1 << 64:
        raise ValueError(f"{value} does not fit 64 bits")
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _key(number: int, wire_type: int) -> bytes:
    return varint(number << 3 | wire_type)


def integer(number: int, value: int) -> bytes:
    """Field ``number`` of type int32, int64 or enum."""
    return _key(number, _VARINT) + varint(value)


def real(number: int, value: float) -> bytes:
    """Field ``number`` of type float; values beyond its range become infinite."""
    try:
        return _key(number, _FIXED32) + struct.pack("<f", value)
    except OverflowError:
        return _key(number, _FIXED32) + struct.pack("<f", float("inf") if value > 0 else float("-inf"))


def message(number: int, *parts: bytes) -> bytes:
    """Field ``number`` of a message type (or bytes), made of the given fields."""
    content = b"".join(parts)
    return _key(number, _BYTES) + varint(len(content)) + content


def text(number: int, value: str) -> bytes:
    """Field ``number`` of type string; what UTF-8 cannot hold becomes "?"."""
    return message(number, value.encode("utf-8", errors="replace"))
