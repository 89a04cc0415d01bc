"""What each ONNX operator becomes: one module a group of operators, found by scanning."""
