"""Risk: Netron (or the onnx package) cannot open the annotated plan, or a fused layer loses its name."""

from __future__ import annotations

import pytest

from cuvil_edge.profile.records import ProfileTensor
from cuvil_edge.report.build import build_report
from cuvil_edge.report.formats.onnx import OnnxFormat
from cuvil_edge.report.model import Report
from tests.report.samples import make_counted, make_profile, make_step

onnx = pytest.importorskip("onnx")


def parsed(report: Report):  # type: ignore[no-untyped-def]
    model = onnx.ModelProto()
    model.ParseFromString(OnnxFormat().render(report))
    everything = model.SerializeToString(deterministic=True)
    model.DiscardUnknownFields()
    assert model.SerializeToString(deterministic=True) == everything
    return model


def attributes(node):  # type: ignore[no-untyped-def]
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def test_every_kind_parses_and_is_in_ssa_form(any_report: Report) -> None:
    model = parsed(any_report)
    assert len(model.graph.node) == len(any_report.layers)
    known = {value.name for value in model.graph.input}
    for node in model.graph.node:
        assert set(node.input) <= known
        assert not set(node.output) & known
        known |= set(node.output)


def test_model_passes_the_checker_as_a_graph_of_a_custom_domain() -> None:
    model = parsed(build_report(make_profile()))
    onnx.checker.check_model(model)
    assert {entry.domain for entry in model.opset_import} == {"", "cuvil"}


def test_nodes_name_all_fused_layers_and_what_was_measured() -> None:
    node = parsed(build_report(make_profile())).graph.node[1]
    values = attributes(node)
    assert node.op_type == "Conv"
    assert values["layers"] == [b"Conv_1", b"Relu_1"]
    assert values["kernel"] == b"conv_1x1_1"
    assert values["median_us"] == 2000
    assert values["share_percent"] == pytest.approx(100 / 3)
    assert values["flops"] == 2_000_000
    metadata = {entry.key: entry.value for entry in node.metadata_props}
    assert metadata["source nodes"] == "Conv_1 + Relu_1"
    assert metadata["time"] == "2 ms median, 2 ms p90"


def test_shapes_and_types_are_there() -> None:
    graph = parsed(build_report(make_profile())).graph
    assert [value.name for value in graph.input] == ["t0"]
    assert [value.name for value in graph.output] == ["t3"]
    tensor = graph.value_info[0].type.tensor_type
    assert tensor.elem_type == onnx.TensorProto.FLOAT
    assert [dim.dim_value for dim in tensor.shape.dim] == [1, 8, 4, 4]


def test_a_value_written_in_place_gets_a_new_name() -> None:
    same = (ProfileTensor("t1", "f32", (1,)),)
    steps = (make_step(0), make_step(1, outputs=same), make_step(2, inputs=same))
    graph = parsed(build_report(make_profile(3, steps=steps))).graph
    assert [list(node.output) for node in graph.node] == [["t1"], ["t1@2"], ["t3"]]
    assert list(graph.node[2].input) == ["t1@2"]


def test_instruction_counts_carry_no_time() -> None:
    node = parsed(build_report(make_counted())).graph.node[2]
    values = attributes(node)
    assert values["instructions"] == 3_000_000
    assert "median_us" not in values
    assert "time" not in {entry.key for entry in node.metadata_props}


def test_huge_numbers_do_not_break_the_file() -> None:
    step = make_step(0, flops=2**63 - 1, inputs=(ProfileTensor("t0", "f32", (2**62,)),))
    node = parsed(build_report(make_profile(1, steps=(step,)))).graph.node[0]
    assert attributes(node)["flops"] == 2**63 - 1
