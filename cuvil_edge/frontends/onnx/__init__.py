"""ONNX: ``import_onnx`` turns a model into a graph."""

from cuvil_edge.frontends.onnx.importer import ImportedModel, import_onnx

__all__ = ["ImportedModel", "import_onnx"]
