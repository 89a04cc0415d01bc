"""Checked reading of data files: a JSON or TOML table whose every mistake is reported with the file and the key.

Used for artifact manifests, boards, targets, device files and profiles, so that a wrong value anywhere reads the same:
``boards/x.toml: clusters[0].max_hz: expected an integer of at least 1, found "2.4 GHz"``.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from cuvil_edge.errors import ConfigError, CuvilError

T = TypeVar("T")


class _Required:
    """Type of the marker for keys without a default."""


REQUIRED: Final = _Required()
INT64_MAX: Final = 2**63 - 1


def nearest_hint(name: str, known: Iterable[str]) -> str | None:
    """``did you mean "x"?`` when one of ``known`` resembles ``name``, otherwise None."""
    close = difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=0.5)
    return f'did you mean "{close[0]}"?' if close else None


def show(value: object) -> str:
    """A found value as text for a message: short, and in the words of the file format."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if value is None or isinstance(value, bool):
        return str(value).lower() if value is not None else "null"
    if isinstance(value, int) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 80 else text[:77] + "..."


class Fields:
    """One table of a data file, read key by key.

    Args:
        value: the table; anything else raises ``error``.
        source: the file, as the user would name it.
        error: the family member to raise (``ConfigError``, ``ArtifactError``).
        path: the keys that lead here from the top of the file.
    """

    def __init__(self, value: object, source: str, error: type[CuvilError] = ConfigError, path: str = "") -> None:
        self._source, self._error, self._path = source, error, path
        if not isinstance(value, Mapping):
            raise self.fault(None, "is not a table", expected="a table of keys and values", found=show(value))
        self._table: Mapping[str, Any] = value
        self._read: set[str] = set()

    @property
    def path(self) -> str:
        """The keys that lead here, such as ``clusters[0]``; empty at the top."""
        return self._path

    def names(self) -> tuple[str, ...]:
        """The keys of this table, in the order of the file."""
        return tuple(self._table)

    def where(self, key: str | None = None) -> str:
        """``file: path.to.key``."""
        parts = [part for part in (self._path, key) if part]
        return f"{self._source}: {'.'.join(parts)}" if parts else self._source

    def fault(
        self,
        key: str | None,
        what: str,
        *,
        expected: str | None = None,
        found: str | None = None,
        hint: str | None = None,
    ) -> CuvilError:
        """The error to raise for a key of this table (None: the table itself)."""
        return self._error(what, thing=self.where(key), expected=expected, found=found, hint=hint)

    def get(self, key: str, default: object = REQUIRED) -> Any:
        """The raw value of a key; missing without a default raises."""
        self._read.add(key)
        if key in self._table:
            return self._table[key]
        if default is REQUIRED:
            raise self.fault(key, "is missing", hint=nearest_hint(key, set(self._table) - self._read))
        return default

    def _typed(self, key: str, default: object, is_right: Callable[[Any], bool], expected: str) -> Any:
        value = self.get(key, default)
        if key not in self._table:
            return value
        if not is_right(value):
            raise self.fault(key, "has a wrong value", expected=expected, found=show(value))
        return value

    def text(
        self,
        key: str,
        default: Any = REQUIRED,
        *,
        choices: Iterable[str] | None = None,
        pattern: re.Pattern[str] | None = None,
        expected: str = "a text that is not empty",
        allow_empty: bool = False,
    ) -> Any:
        """A text; ``choices`` and ``pattern`` (full match) restrict it, ``expected`` is what the message says."""
        value = self._typed(key, default, lambda v: is_text(v) and (allow_empty or v != ""), expected)
        if key not in self._table:
            return value
        if choices is not None and value not in (known := list(choices)):
            raise self.fault(
                key,
                "has a wrong value",
                expected="one of " + ", ".join(known),
                found=show(value),
                hint=nearest_hint(value, known),
            )
        if pattern is not None and not pattern.fullmatch(value):
            raise self.fault(key, "has a wrong value", expected=expected, found=show(value))
        return value

    def integer(self, key: str, default: Any = REQUIRED, *, minimum: int = 0, maximum: int = INT64_MAX) -> Any:
        """An integer in the closed range ``minimum``..``maximum``; a bool or a float is not one."""
        expected = f"an integer of at least {minimum}"
        if maximum != INT64_MAX:
            expected = f"an integer in {minimum}..{maximum}"
        return self._typed(key, default, lambda v: is_integer(v) and minimum <= v <= maximum, expected)

    def number(self, key: str, default: Any = REQUIRED, *, minimum: float = 0.0) -> Any:
        """A finite number of at least ``minimum``, as float."""
        value = self._typed(
            key,
            default,
            lambda v: is_number(v) and v >= minimum,
            f"a number of at least {minimum:g}",
        )
        return float(value) if key in self._table else value

    def boolean(self, key: str, default: Any = REQUIRED) -> Any:
        """``true`` or ``false``."""
        return self._typed(key, default, lambda v: isinstance(v, bool), "true or false")

    def items(self, key: str, default: Any = REQUIRED) -> Any:
        """A list of anything, as a tuple."""
        value = self._typed(key, default, lambda v: isinstance(v, list | tuple), "a list")
        return tuple(value) if key in self._table else value

    def texts(self, key: str, default: Any = REQUIRED) -> Any:
        """A list of texts that are not empty, as a tuple."""
        return self._list_of(key, default, lambda v: is_text(v) and v != "", "a text that is not empty")

    def integers(self, key: str, default: Any = REQUIRED, *, minimum: int = 0) -> Any:
        """A list of integers of at least ``minimum``, as a tuple."""
        return self._list_of(
            key, default, lambda v: is_integer(v) and minimum <= v <= INT64_MAX, f"an integer of at least {minimum}"
        )

    def _list_of(self, key: str, default: object, is_right: Callable[[Any], bool], expected: str) -> Any:
        values = self.items(key, default)
        if key not in self._table:
            return values
        for index, value in enumerate(values):
            if not is_right(value):
                raise self.fault(f"{key}[{index}]", "has a wrong value", expected=expected, found=show(value))
        return values

    def section(self, key: str, default: Any = REQUIRED) -> Any:
        """A table under ``key``, as ``Fields``."""
        value = self.get(key, default)
        return self._sub(value, key) if key in self._table else value

    def sections(self, key: str, default: Any = REQUIRED) -> Any:
        """A list of tables, as a tuple of ``Fields``."""
        values = self.items(key, default)
        if key not in self._table:
            return values
        return tuple(self._sub(value, f"{key}[{index}]") for index, value in enumerate(values))

    def _sub(self, value: object, key: str) -> Fields:
        return Fields(value, self._source, self._error, f"{self._path}.{key}" if self._path else key)

    def refuse_unknown(self) -> None:
        """Raises for the first key that nobody has read: a misspelt key must not be ignored silently."""
        for key in self._table:
            if key not in self._read:
                raise self.fault(key, "is not a known key", hint=nearest_hint(key, self._read))


def is_integer(value: object) -> bool:
    """True for an int that is not a bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """True for a finite float and for an int that fits 64 bits."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and is_integer(value) and abs(value) <= INT64_MAX


def is_text(value: object) -> bool:
    """True for a text that can be stored as UTF-8 and holds no zero character."""
    if not isinstance(value, str) or "\0" in value:
        return False
    return not any("\ud800" <= c <= "\udfff" for c in value) if not value.isascii() else True
