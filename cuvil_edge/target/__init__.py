"""What code can be compiled for: instruction sets, CPU models, toolchains, and targets made of them."""
