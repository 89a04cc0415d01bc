"""The command line: one file a subcommand. The only part that prints and that reads the environment."""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``cuvil-edge`` with ``argv`` (default: the arguments of the process) and return its exit status."""
    from cuvil_edge.cli._main import run

    return run(argv)
