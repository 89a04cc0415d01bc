"""From a lowered graph to an artifact: plan, C++ text, compilation, linking, packing."""
