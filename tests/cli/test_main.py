"""Parsing and dispatch: every way to fail has its exit status and its form, as text and as JSON."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

import cuvil_edge
from cuvil_edge.cli import _main
from cuvil_edge.cli._base import Subcommand
from cuvil_edge.cli._output import Output
from cuvil_edge.errors import ConnectError
from cuvil_edge.registry import load_plugins

COMMANDS = load_plugins(_main.PACKAGE, Subcommand)


class Failing(Subcommand):
    """Raises what it is told to."""

    name = "failing"
    help = "fail"
    error: BaseException = ConnectError("the device cannot be reached", thing="pi", hint="is it on?")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """None."""

    def run(self, args: argparse.Namespace, output: Output) -> int:
        output.text("before")
        raise self.error


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> type[Failing]:
    monkeypatch.setattr(_main, "load_plugins", lambda package, base: {"failing": Failing})
    return Failing


def test_every_command_of_the_documentation_exists():
    wanted = {"check", "compile", "run", "profile", "deploy", "report", "boards", "devices", "doctor", "rollback"}
    assert wanted == set(_main.command_names())


@pytest.mark.parametrize("name", COMMANDS)
def test_name_is_the_file_name_and_help_needs_no_heavy_import(cli, capsys, name):
    assert COMMANDS[name].name == name
    assert COMMANDS[name].help
    with pytest.raises(SystemExit) as end:
        cli(name, "--help")
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert "--json" in text
    assert "--verbose" in text


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom cuvil_edge.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('numpy', 'onnx', 'paramiko') if m in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.strip() == "[]"
    assert "raspberry-pi-5" in done.stdout


def test_version(cli, capsys):
    with pytest.raises(SystemExit) as end:
        cli("--version")
    assert end.value.code == 0
    assert capsys.readouterr().out == f"cuvil-edge {cuvil_edge.__version__}\n"


def test_no_command_is_a_usage_error(cli):
    outcome = cli()
    assert outcome.status == 2
    assert outcome.out == ""
    assert "no command" in outcome.err
    assert "deploy" in outcome.err


def test_misspelt_command_gets_a_hint(cli):
    outcome = cli("deplyo", "model.onnx", "--json")
    assert outcome.status == 2
    assert outcome.error["kind"] == "usage"
    assert 'did you mean "deploy"?' in outcome.error["hint"]
    assert outcome.err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["report", "x", "--nonsense"],
        ["profile", "m.cuvil", "--runs", "many"],
        ["profile", "m.cuvil", "--runs", "0"],
        ["profile", "m.cuvil", "--threads", "-1"],
        ["profile", "m.cuvil", "--cpus", "7-4"],
        ["compile", "m.onnx", "--compiler", "msvc"],
        ["devices", "rename"],
    ],
)
def test_wrong_arguments_are_errors_of_the_user_in_both_forms(cli, arguments):
    text = cli(*arguments)
    assert text.status == 2
    assert text.out == ""
    assert text.err.startswith("error: ")
    assert "--help" in text.err
    assert cli(*arguments, "--json").error["kind"] == "usage"


def test_no_abbreviated_flags(cli):
    assert cli("report", "x", "--form", "csv").status == 2


def test_user_error_has_its_exit_status_and_form(cli, failing):
    failing.error = ConnectError(
        "the device cannot be reached", thing="pi", expected="yes", found="no", hint="is it on?"
    )
    outcome = cli("failing")
    assert outcome.status == 1
    assert outcome.out == "before\n"
    expected = "error: pi: the device cannot be reached\n  expected: yes\n  found: no\n  hint: is it on?\n"
    assert outcome.err == expected


def test_user_error_as_json_is_the_only_output(cli, failing):
    failing.error = ConnectError("the device cannot be reached", thing="pi", hint="is it on?")
    failing.error.add_note("and the upload is still there")
    outcome = cli("failing", "--json")
    assert outcome.error == {
        "kind": "connect",
        "what": "the device cannot be reached",
        "thing": "pi",
        "hint": "is it on?",
        "notes": ["and the upload is still there"],
    }
    assert outcome.err == ""


def test_internal_error_asks_for_a_report_and_hides_the_traceback(cli, failing):
    failing.error = KeyError("x")
    outcome = cli("failing")
    assert outcome.status == 70
    assert "mistake of cuvil-edge" in outcome.err
    assert "KeyError" in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize("how", [["--verbose"], {"CUVIL_DEBUG": "1"}])
def test_internal_error_shows_the_traceback_when_asked(cli, failing, how):
    failing.error = KeyError("x")
    outcome = cli("failing", *how) if isinstance(how, list) else cli("failing", environment=how)
    assert outcome.status == 70
    assert "Traceback" in outcome.err


def test_internal_error_as_json_is_json(cli, failing):
    failing.error = RuntimeError("broken\nsecond line")
    outcome = cli("failing", "--json")
    assert outcome.status == 70
    assert outcome.error["found"] == "RuntimeError: broken"


def test_interrupt_is_quiet(cli, failing):
    failing.error = KeyboardInterrupt()
    outcome = cli("failing")
    assert outcome.status == 130
    assert outcome.err == ""


def test_broken_pipe_is_quiet(cli, failing, monkeypatch):
    monkeypatch.setattr(_main, "_discard_stdout", lambda: None)
    failing.error = BrokenPipeError()
    outcome = cli("failing")
    assert outcome.status == 141
    assert outcome.err == ""


def test_full_disk_has_a_name(cli, failing):
    failing.error = OSError(28, "No space left on device", "/tmp/x")
    assert cli("failing", "--json").error["kind"] == "disk_full"


def test_file_trouble_names_the_file(cli, failing):
    failing.error = PermissionError(13, "Permission denied", "/srv/secret")
    outcome = cli("failing")
    assert outcome.err == "error: /srv/secret: Permission denied\n"
    assert outcome.status == 2


def test_memory_trouble_is_no_internal_error(cli, failing):
    failing.error = MemoryError("Unable to allocate 9 EiB")
    outcome = cli("failing", "--json")
    assert outcome.status == 1
    assert "not enough memory" in outcome.error["what"]


def test_reader_that_leaves_early_sees_no_message(tmp_path: Path):
    """A real pipe: ``cuvil-edge boards | true``."""
    command = f"'{sys.executable}' -m cuvil_edge.cli boards | true"
    environment = {**os.environ, "PYTHONPATH": str(Path(cuvil_edge.__file__).parent.parent), "HOME": str(tmp_path)}
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert done.stderr == ""
