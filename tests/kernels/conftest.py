"""Builds for the kernel tests; a build that this machine cannot run is skipped, with the reason."""

from __future__ import annotations

import pytest

from tests.kernels.harness import Build, arm64_build, native_build


def _usable(build: Build | str) -> Build:
    if isinstance(build, str):
        pytest.skip(build)
    return build


@pytest.fixture(params=["scalar", "x86_64_avx2", "x86_64_avx512"])
def native(request: pytest.FixtureRequest) -> Build:
    """Each instruction set of this machine."""
    return _usable(native_build(request.param))


@pytest.fixture
def widest() -> Build:
    """The best instruction set of this machine."""
    builds = [native_build(isa) for isa in ("x86_64_avx512", "x86_64_avx2", "scalar")]
    return _usable(next((build for build in builds if isinstance(build, Build)), "no instruction set"))


@pytest.fixture(params=["scalar", "x86_64_avx2"])
def sanitized(request: pytest.FixtureRequest) -> Build:
    """With AddressSanitizer and UndefinedBehaviorSanitizer."""
    return _usable(native_build(request.param, sanitize=True))


@pytest.fixture
def arm64() -> Build:
    """64-bit Arm, emulated."""
    return _usable(arm64_build())
