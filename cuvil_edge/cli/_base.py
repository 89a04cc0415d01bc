"""What a subcommand is. To add one, add a file: its name is the name of the subcommand."""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from typing import ClassVar

from cuvil_edge.cli._output import Output


class Subcommand(ABC):
    """One subcommand of ``cuvil-edge``.

    Modules of subcommands import nothing heavy at the top, because ``--help`` loads all of them.
    """

    name: ClassVar[str]
    """As the user types it; the name of the file."""
    help: ClassVar[str]
    """One line for the list of subcommands."""
    epilog: ClassVar[str] = ""
    """Examples, shown below the options."""

    @abstractmethod
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments; ``--json`` and ``--verbose`` are there already."""

    @abstractmethod
    def run(self, args: argparse.Namespace, output: Output) -> int:
        """Do the work and return the exit status. ``args.config`` is the user's ``Config``.

        Raises:
            CuvilError: printed by the caller, whose exit status is then the error's.
        """
