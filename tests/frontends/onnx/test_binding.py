"""The table of bindings: versions, and everything that the first models need."""

from __future__ import annotations

import onnx
import pytest

from cuvil_edge.frontends.onnx.binding import find_binding, supported_operators

MODELS_NEED = """
Add And ArgMax AveragePool BatchNormalization Cast Clip Concat Constant Conv ConvTranspose Div Equal Erf Exp Expand
Flatten Gather GatherND Gemm GlobalAveragePool GlobalMaxPool GreaterOrEqual HardSigmoid HardSwish Identity IsNaN Log
MatMul Max LayerNormalization MaxPool Mul Neg Pad Pow Range Reciprocal ReduceMax ReduceMean ReduceMin ReduceSum Relu
Reshape Resize Shape Sigmoid Slice Softmax Split Sqrt Squeeze Sub Tanh Transpose Unsqueeze Where
"""


@pytest.mark.parametrize("op_type", MODELS_NEED.split())
def test_operators_of_the_first_models_are_bound(op_type: str) -> None:
    assert callable(find_binding("", op_type, 17))


def test_every_binding_is_an_operator_of_its_opset() -> None:
    """A misspelt name or a wrong first version would never be found by a model."""
    for (domain, op_type), versions in supported_operators().items():
        for since in versions:
            schema = onnx.defs.get_schema(op_type, max(since, 7), domain)
            assert schema.name == op_type


def test_the_newest_fitting_version_is_chosen() -> None:
    assert find_binding("", "Clip", 10) is not find_binding("", "Clip", 11)
    assert find_binding("", "Clip", 11) is find_binding("", "Clip", 13)
    assert find_binding("", "Slice", 9) is not find_binding("", "Slice", 10)


def test_reasons_say_why_there_is_none() -> None:
    assert find_binding("", "Einsum", 17) == "the operator is not supported"
    assert find_binding("", "LSTM", 17) == "recurrent layers are not supported"
    assert find_binding("", "Gelu", 17) == "exists only from opset 20 on"
    assert find_binding("com.example", "Relu", 1) == "the operator is not supported"
