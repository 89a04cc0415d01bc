"""From the arguments of the process to an exit status: parsing, dispatch, and what every error becomes."""

from __future__ import annotations

import argparse
import errno
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import cuvil_edge
from cuvil_edge.cli._base import Subcommand
from cuvil_edge.cli._output import Output
from cuvil_edge.config import Config
from cuvil_edge.errors import CuvilError, DiskFullError, RuntimeFailure, UsageError
from cuvil_edge.registry import load_plugins, plugin_names

PACKAGE = "cuvil_edge.cli"
INTERNAL_ERROR_STATUS = 70
"""EX_SOFTWARE of sysexits.h."""
INTERRUPTED_STATUS = 130
BROKEN_PIPE_STATUS = 141

_DESCRIPTION = "From a trained model to a verified, measured run on an edge board."
_EPILOG = """\
examples:
  cuvil-edge check   model.onnx --board raspberry-pi-5
  cuvil-edge compile model.onnx --board raspberry-pi-5 -o model.cuvil
  cuvil-edge deploy  model.cuvil --host user@address
  cuvil-edge report  run-folder --format html -o report.html

exit status: 0 done, 1 failed, 2 wrong usage, 70 internal error, 130 interrupted
"""


class InternalError(CuvilError):
    """A mistake of the program, not of its user."""

    exit_code = INTERNAL_ERROR_STATUS


class _Parser(argparse.ArgumentParser):
    """Reports a wrong argument as a UsageError, so that it reads, and is JSON, like every other error."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"'{self.prog} --help' shows all arguments")


def run(argv: Sequence[str] | None = None, environment: Mapping[str, str] | None = None) -> int:
    """Run one command; never raises but for ``--help`` and ``--version``, which exit as argparse does."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    environment = os.environ if environment is None else environment
    debug = bool(environment.get("CUVIL_DEBUG")) or "--verbose" in arguments
    output = Output(
        as_json="--json" in arguments,
        verbose="--verbose" in arguments,
        # https://no-color.org, and terminals that have none.
        colour="NO_COLOR" not in environment and environment.get("TERM") != "dumb",
    )
    try:
        status = _run(arguments, environment, output)
        output.flush()
        return status
    except BrokenPipeError:
        _discard_stdout()
        return BROKEN_PIPE_STATUS
    except KeyboardInterrupt:
        output.clear_progress()
        return INTERRUPTED_STATUS
    except Exception as error:
        return _report(error, output, debug)


def _run(arguments: list[str], environment: Mapping[str, str], output: Output) -> int:
    args = build_parser(arguments).parse_args(arguments)
    if args.subcommand is None:
        raise UsageError("no command is given", expected=", ".join(command_names()), hint="'cuvil-edge --help'")
    args.config = Config.from_environment(environment)
    args.command_line = ["cuvil-edge", *arguments]
    subcommand: Subcommand = args.subcommand
    return subcommand.run(args, output)


def command_names() -> tuple[str, ...]:
    """All subcommands, sorted."""
    return plugin_names(PACKAGE)


def build_parser(arguments: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser of the whole command line. A first argument that resembles a command gets a hint here."""
    parser = _Parser(
        prog="cuvil-edge",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"cuvil-edge {cuvil_edge.__version__}")
    parser.set_defaults(subcommand=None)
    _add_common(parser, argparse.SUPPRESS)
    commands = parser.add_subparsers(metavar="COMMAND", title="commands", parser_class=_Parser)
    plugins = load_plugins(PACKAGE, Subcommand)
    for name, subcommand in plugins.items():
        _add_subcommand(commands, name, subcommand())
    _check_command_name(arguments, tuple(plugins))
    return parser


def _add_subcommand(commands: Any, name: str, subcommand: Subcommand) -> None:
    parser = commands.add_parser(
        name,
        help=subcommand.help,
        description=subcommand.help[0].upper() + subcommand.help[1:] + ".",
        epilog=subcommand.epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    subcommand.add_arguments(parser)
    _add_common(parser, argparse.SUPPRESS)
    parser.set_defaults(subcommand=subcommand)


def _add_common(parser: argparse.ArgumentParser, default: Any) -> None:
    parser.add_argument("--json", action="store_true", default=default, help="one JSON object on stdout")
    parser.add_argument(
        "--verbose", action="store_true", default=default, help="everything that was done and refused, and why"
    )


def _check_command_name(arguments: Sequence[str], names: tuple[str, ...]) -> None:
    from cuvil_edge.fields import nearest_hint

    first = next((argument for argument in arguments if not argument.startswith("-")), None)
    if first is not None and first not in names:
        raise UsageError("unknown command", thing=first, expected=", ".join(names), hint=nearest_hint(first, names))


def _report(error: Exception, output: Output, debug: bool) -> int:
    known = error if isinstance(error, CuvilError) else _as_known(error)
    if debug and (isinstance(known, InternalError) or known is not error):
        output.traceback("".join(traceback.format_exception(error)))
    try:
        output.error(known, known.exit_code)
        output.flush()
    except BrokenPipeError:
        _discard_stdout()
    return known.exit_code


def _as_known(error: Exception) -> CuvilError:
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return DiskFullError("no space left on this machine", thing=_path(error), hint="free some space")
    if isinstance(error, OSError) and error.filename is not None:
        return UsageError(error.strerror or str(error), thing=_path(error))
    if isinstance(error, MemoryError):
        hint = "use smaller extents (--dim), or a machine with more memory"
        return RuntimeFailure("there is not enough memory on this machine", found=str(error) or None, hint=hint)
    first_line = (str(error).splitlines() or [""])[0][:300]
    return InternalError(
        "internal error: this is a mistake of cuvil-edge, not yours",
        found=f"{type(error).__name__}: {first_line}" if first_line else type(error).__name__,
        hint="please report it, with the command and what it prints with --verbose",
    )


def _path(error: OSError) -> str | None:
    return os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else None


def _discard_stdout() -> None:
    """Nobody reads any more: let the interpreter's last flush go nowhere, without a message."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)
