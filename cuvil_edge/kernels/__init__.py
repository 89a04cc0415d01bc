"""Kernel families: what generated code instantiates, how one is chosen, and what it costs."""
