"""Risks: two different kernels have one name, or one kernel two; the function is not named like its symbol."""

from __future__ import annotations

from cuvil_edge.kernels.kernel import KERNEL_NAME, NOTHING, Kernel


def source(value: int) -> str:
    return f'extern "C" int {KERNEL_NAME}(void) {{ return {value}; }}  // {KERNEL_NAME}\n'


def test_equal_sources_are_one_kernel_and_others_are_not() -> None:
    one, same, other = (Kernel.create("conv", source(value)) for value in (1, 1, 2))
    assert one == same
    assert one.name != other.name
    assert Kernel.create("matmul", source(1)).name != one.name


def test_the_name_is_an_identifier_and_stands_for_the_token_everywhere() -> None:
    kernel = Kernel.create("conv", source(0))
    assert kernel.name.isidentifier()
    assert kernel.name.startswith("conv_")
    assert KERNEL_NAME not in kernel.source
    assert kernel.source.count(kernel.name) == 2


def test_nothing_is_an_operand_without_bytes() -> None:
    assert NOTHING.packed is not None
    assert NOTHING.packed.nbytes == 0
