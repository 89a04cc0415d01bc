"""Everything that reaches the user: results on stdout, errors and progress on stderr."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from typing import Any, TextIO

from cuvil_edge.errors import CuvilError

_PROGRESS_SECONDS = 0.1


class Output:
    """Where a subcommand writes.

    With ``--json`` stdout gets exactly one JSON object, whether the command succeeds or fails. Progress is shown only
    on a terminal, on one line that the next output replaces.
    """

    def __init__(
        self,
        *,
        as_json: bool = False,
        verbose: bool = False,
        colour: bool = True,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
    ) -> None:
        self.as_json = as_json
        self.verbose = verbose
        self.colour = colour
        self._stdout = stdout or sys.stdout
        self._stderr = stderr or sys.stderr
        self._progress_text = ""
        self._shown_at = 0.0
        for stream in (self._stdout, self._stderr):
            if reconfigure := getattr(stream, "reconfigure", None):
                reconfigure(errors="replace")  # a name that this terminal cannot show must not end the program

    @property
    def shows_progress(self) -> bool:
        """Whether progress is shown: only where somebody watches, and not in the way of JSON."""
        return not self.as_json and self._stderr.isatty()

    @property
    def width(self) -> int:
        """Columns of the terminal; 0 where stdout is none."""
        if not self._stdout.isatty():
            return 0
        import shutil

        return shutil.get_terminal_size().columns

    @property
    def is_terminal(self) -> bool:
        """Whether somebody reads stdout directly."""
        return self._stdout.isatty()

    @property
    def has_colour(self) -> bool:
        """Whether stdout is a terminal that shows colours."""
        return self.colour and self.is_terminal

    def text(self, text: str = "") -> None:
        """Lines for people: a part of the result. Nothing with ``--json``."""
        if not self.as_json:
            self.clear_progress()
            self._stdout.write("".join(f"{printable(line)}\n" for line in text.split("\n")))

    def detail(self, text: str) -> None:
        """As ``text``, with ``--verbose`` only."""
        if self.verbose:
            self.text(text)

    def json(self, value: Mapping[str, Any]) -> None:
        """The result of the command as one JSON object. Nothing without ``--json``."""
        if self.as_json:
            self._dump({"ok": True, **value})

    def raw(self, content: bytes) -> None:
        """A whole document on stdout, such as a report in some format."""
        self.clear_progress()
        self._stdout.flush()
        if (buffer := getattr(self._stdout, "buffer", None)) is not None:
            buffer.write(content)
            buffer.flush()
        else:
            self._stdout.write(content.decode("utf-8", errors="replace"))

    def progress(self, stage: str, done: int = 0, total: int = 0) -> None:
        """What is being done now; ``total`` is 0 where it is not known."""
        if not self.shows_progress:
            return
        text = f"{stage} {done}/{total}" if total else stage
        now = time.monotonic()
        if text == self._progress_text or (0 < done < total and now - self._shown_at < _PROGRESS_SECONDS):
            return
        self._stderr.write(f"\r\x1b[2K{printable(text)[:200]} ...")
        self._stderr.flush()
        self._progress_text, self._shown_at = text, now

    def clear_progress(self) -> None:
        """Take the progress line away."""
        if self._progress_text:
            self._stderr.write("\r\x1b[2K")
            self._stderr.flush()
            self._progress_text = ""

    def error(self, error: CuvilError, exit_status: int) -> None:
        """An error: on stderr as what, expected, found and hint, or on stdout as JSON."""
        notes = list(getattr(error, "__notes__", []))
        if self.as_json:
            parts = error.to_json() | ({"notes": notes} if notes else {})
            self._dump({"ok": False, "exit_status": exit_status, "error": parts})
            return
        self.clear_progress()
        self._stdout.flush()
        lines = f"error: {error}".split("\n") + [f"  {line}" for note in notes for line in note.split("\n")]
        self._stderr.write("".join(f"{printable(line)}\n" for line in lines))
        self._stderr.flush()

    def traceback(self, text: str) -> None:
        """The traceback of an internal error, on stderr."""
        self.clear_progress()
        self._stderr.write(text)

    def flush(self) -> None:
        """Everything that was written is on its way. Raises BrokenPipeError where nobody reads any more."""
        self.clear_progress()
        self._stdout.flush()

    def _dump(self, value: Mapping[str, Any]) -> None:
        self._stdout.write(json.dumps(value, indent=1, ensure_ascii=False, default=str) + "\n")


def printable(line: str) -> str:
    """``line`` without control characters: a name in a model cannot move the cursor or forge a line."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() or c == "\t" else c.encode("unicode_escape", "replace").decode() for c in line)
