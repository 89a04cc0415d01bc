"""Each kind of profile in turn, for tests that hold for all of them."""

from __future__ import annotations

import pytest

from cuvil_edge.report.build import build_report
from cuvil_edge.report.model import Report
from tests.report.samples import KINDS, all_kinds


@pytest.fixture(params=KINDS)
def any_report(request: pytest.FixtureRequest) -> Report:
    return build_report(all_kinds()[request.param])
