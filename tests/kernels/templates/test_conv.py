"""Risks: the wrong family is chosen, or an odd window is computed wrongly at the image's edges."""

from __future__ import annotations

import itertools

import numpy as np

from cuvil_edge.ir.op import Sample
from cuvil_edge.kernels.selection import select
from cuvil_edge.kernels.templates.conv import ImplicitProduct
from cuvil_edge.kernels.templates.depthwise import DepthwiseRows
from cuvil_edge.ops.conv import Conv
from tests.kernels.harness import Build, build_node, lowered, run_cases, target_for

TARGET = target_for("x86_64_avx2")
RANDOM = np.random.default_rng(11)


def array(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def node(group: int, channels: int, filters: int, kernel: int = 3):
    op = Conv((1, 1), (1, 1, 1, 1), (1, 1), group, channels_last=True)
    sample = Sample(op, (array(1, 9, 9, channels), array(filters, channels // group, kernel, kernel)), (1,))
    return build_node(sample, False)[0]


def test_padding_of_filters_to_whole_vectors_is_counted() -> None:
    family = ImplicitProduct()
    assert family.cost(node(1, 16, 64), TARGET) == 1
    assert family.cost(node(1, 16, 65), TARGET) == 72 / 65
    assert family.cost(node(16, 16, 16), TARGET) == 8


def test_one_filter_a_channel_is_left_to_the_family_made_for_it() -> None:
    assert isinstance(select(node(16, 16, 16), TARGET).template, DepthwiseRows)
    assert isinstance(select(node(1, 16, 16), TARGET).template, ImplicitProduct)
    assert isinstance(select(node(16, 16, 32), TARGET).template, ImplicitProduct), "two filters a channel"


def test_windows_of_all_kinds_at_the_edges_of_the_image(widest: Build) -> None:
    samples = []
    for kernel, strides, dilations, pads in itertools.product(
        ((3, 3), (2, 4), (1, 1)), ((1, 1), (2, 3)), ((1, 1), (2, 1)), ((0, 0, 0, 0), (1, 1, 1, 1), (3, 0, 0, 4))
    ):
        op = Conv(strides, pads, dilations, channels_last=True)
        for channels in (3, 20):
            x, w = array(2, 6, 7, channels), array(21, channels, *kernel)
            samples.append((f"{kernel} {op} {channels}", Sample(op, (x, w, array(21)), (1, 2))))
    cases, refused = lowered(samples, widest)
    assert not refused
    assert len(cases) == 72
    failures, _ = run_cases(widest, cases)
    assert not failures, "\n".join(failures)


def test_an_image_smaller_than_its_kernel(widest: Build) -> None:
    samples = []
    for height, width, channels in itertools.product((1, 2), (1, 2), (1, 3, 17)):
        op = Conv((1, 1), (3, 3, 3, 3), (1, 1), channels_last=True)
        samples.append(
            (f"{height}x{width}", Sample(op, (array(1, height, width, channels), array(5, channels, 7, 7)), (1,)))
        )
    for symbolic in (False, True):
        cases, refused = lowered(samples, widest, symbolic=symbolic)
        assert not refused
        failures, _ = run_cases(widest, cases)
        assert not failures, "\n".join(failures)
