"""What a report format is: a class with a name, a file name and a pure ``render``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from cuvil_edge.report.model import Report


class ReportFormat(ABC):
    """One way to write a report down. A subclass is a file of this folder, named as the format."""

    name: ClassVar[str]
    """As in ``--format``; equal to the name of the file that defines it."""
    file_name: ClassVar[str]
    """What the report is called in a run folder."""

    @abstractmethod
    def render(self, report: Report) -> str | bytes:
        """The whole report; text is to be written as UTF-8. Equal reports give equal bytes."""
