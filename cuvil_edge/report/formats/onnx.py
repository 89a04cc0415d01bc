"""The compiled plan as an ONNX file that Netron shows: one node a step, annotated with what was measured.

It is a picture of the plan, not a model to run: nodes are of the domain ``cuvil``, and weights are left out. Field
numbers are those of onnx.proto3, IR version 10 (the first with metadata of nodes).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cuvil_edge.profile.records import ProfileTensor
from cuvil_edge.report.formats._base import ReportFormat
from cuvil_edge.report.model import LayerRow, Report
from cuvil_edge.report.protobuf import integer, message, real, text
from cuvil_edge.report.text import bytes_text, count_text, layers_text, percent_text, rate_text, time_text

IR_VERSION = 10
DOMAIN = "cuvil"
_ONNX_OPSET = 21
_ELEMENT_TYPES = {
    "f32": 1,
    "u8": 2,
    "i8": 3,
    "u16": 4,
    "i16": 5,
    "i32": 6,
    "i64": 7,
    "bool": 9,
    "f16": 10,
    "f64": 11,
    "u32": 12,
    "u64": 13,
    "bf16": 16,
}
_FLOAT, _INT, _STRING, _STRINGS = 1, 2, 3, 8


class OnnxFormat(ReportFormat):
    """Nodes carry kernel, time, share, rates and the names of all fused layers, as attributes and as metadata."""

    name = "onnx"
    file_name = "compiled.onnx"

    def render(self, report: Report) -> bytes:
        """A serialized ModelProto."""
        header = report.header
        return b"".join(
            (
                integer(1, IR_VERSION),
                text(2, "cuvil-edge"),
                text(4, DOMAIN),
                text(6, _description(report)),
                message(7, *_graph(report)),
                message(8, text(1, ""), integer(2, _ONNX_OPSET)),
                message(8, text(1, DOMAIN), integer(2, 1)),
                *_metadata(
                    14,
                    {
                        "board": header.board,
                        "device": header.device,
                        "target": header.target,
                        "threads": str(header.threads),
                        "artifact_sha256": header.artifact_sha256,
                        "verdict": report.verdict,
                    },
                ),
            )
        )


def _description(report: Report) -> str:
    latency = report.totals.latency
    amount = time_text(latency.median) if latency else f"{count_text(report.totals.instructions)} instructions"
    lines = [f"{report.header.model} as compiled for {report.header.target}: {amount}"]
    return "\n".join(lines + ([report.note] if report.note else []))


def _metadata(number: int, values: Mapping[str, str]) -> list[bytes]:
    """StringStringEntryProto fields."""
    return [message(number, text(1, key), text(2, value)) for key, value in values.items()]


def _graph(report: Report) -> list[bytes]:
    """The fields of the GraphProto. A name that is written twice (in place) gets a number, as ONNX wants."""
    current: dict[str, str] = {}
    types: dict[str, ProfileTensor] = {}
    inputs: dict[str, ProfileTensor] = {}
    produced: list[str] = []
    nodes: list[bytes] = []
    used: set[str] = set()
    for row in report.layers:
        names_in = [current.get(t.value, t.value) for t in row.inputs]
        inputs.update({t.value: t for t in row.inputs if t.value not in current and t.value not in inputs})
        names_out = []
        for tensor in row.outputs:
            name = _fresh(tensor.value, {*types, *inputs})
            current[tensor.value], types[name] = name, tensor
            names_out.append(name)
        used.update(names_in)
        produced += names_out
        nodes.append(message(1, *_node(row, names_in, names_out)))
    outputs = [name for name in produced if name not in used]
    return [
        *nodes,
        text(2, report.header.model),
        *(message(11, *_value(name, tensor)) for name, tensor in inputs.items()),
        *(message(12, *_value(name, types[name])) for name in outputs),
        *(message(13, *_value(name, types[name])) for name in produced if name in used),
    ]


def _fresh(name: str, taken: set[str]) -> str:
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}@{number}", number + 1
    return candidate


def _value(name: str, tensor: ProfileTensor) -> list[bytes]:
    """The fields of a ValueInfoProto."""
    shape = message(2, *(message(1, integer(1, extent)) for extent in tensor.shape))
    return [text(1, name), message(2, message(1, integer(1, _ELEMENT_TYPES.get(tensor.dtype, 0)), shape))]


def _node(row: LayerRow, inputs: Iterable[str], outputs: Iterable[str]) -> list[bytes]:
    """The fields of a NodeProto."""
    return [
        *(text(1, name) for name in inputs),
        *(text(2, name) for name in outputs),
        text(3, row.name),
        text(4, _op_type(row.op)),
        *_attributes(row),
        text(6, layers_text(row)),
        text(7, DOMAIN),
        *_metadata(9, _node_metadata(row)),
    ]


def _op_type(op: str) -> str:
    """``depthwise_conv`` as ONNX spells ops: ``DepthwiseConv``."""
    return "".join(part[:1].upper() + part[1:] for part in op.split("_")) or "Step"


def _attributes(row: LayerRow) -> list[bytes]:
    """AttributeProto fields with plain numbers, for scripts; only what was measured."""
    numbers: dict[str, float | None] = {
        "median_us": row.time.median / 1e3 if row.time else None,
        "p90_us": row.time.p90 / 1e3 if row.time else None,
        "share_percent": 100 * row.share if row.share is not None else None,
        "gflop_per_second": row.flops_per_second / 1e9 if row.flops_per_second is not None else None,
        "gbyte_per_second": row.bytes_per_second / 1e9 if row.bytes_per_second is not None else None,
        "limit_percent": 100 * row.limit_share if row.limit_share is not None else None,
    }
    integers = {
        "flops": row.flops,
        "bytes_read": row.bytes_read,
        "bytes_written": row.bytes_written,
        "weights_bytes": row.weights_bytes,
        **row.counters,
    }
    layers = [message(9, layer.encode("utf-8", errors="replace")) for layer in row.layers]
    return [
        message(5, text(1, "kernel"), message(4, row.kernel.encode("utf-8", errors="replace")), integer(20, _STRING)),
        message(5, text(1, "layers"), *layers, integer(20, _STRINGS)),
        *(message(5, text(1, k), real(2, v), integer(20, _FLOAT)) for k, v in numbers.items() if v is not None),
        *(message(5, text(1, k), integer(3, v), integer(20, _INT)) for k, v in integers.items()),
    ]


def _node_metadata(row: LayerRow) -> dict[str, str]:
    """The same in words, for people."""
    values = {"source nodes": layers_text(row), "kernel": row.kernel, "dtype": row.dtype}
    if row.time is not None:
        values["time"] = f"{time_text(row.time.median)} median, {time_text(row.time.p90)} p90"
        values["rate"] = f"{rate_text(row.flops_per_second, 'FLOP')}, {rate_text(row.bytes_per_second, 'B')}"
    if row.instructions is not None:
        values["executed instructions"] = count_text(row.instructions)
    values["share"] = percent_text(row.share)
    values["work"] = f"{count_text(row.flops, 'FLOP')}, {bytes_text(row.bytes_read + row.bytes_written)} moved"
    if row.bound is not None:
        values["bound by"] = f"{row.bound} ({percent_text(row.limit_share, 0)} of the board's limit)"
    return values
