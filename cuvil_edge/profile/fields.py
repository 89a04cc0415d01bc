"""Reading a JSON object key by key, with errors that name the full path of the key ("steps[3].inputs[0].dtype")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from cuvil_edge.errors import CuvilError

T = TypeVar("T")
INT64_MAX = (1 << 63) - 1


class ProfileError(CuvilError):
    """A profile cannot be used: damaged, contradicts itself, or of a newer format."""


def describe(value: object) -> str:
    """A short text that shows a wrong JSON value without flooding the terminal."""
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"


class Fields:
    """One JSON object being read; every key must be read once, and :meth:`finish` refuses what is left.

    Args:
        value: what should be a JSON object.
        path: where it stands in the file, "" for the top.

    Raises:
        ProfileError: it is no object. All readers below raise it too, naming the key.
    """

    def __init__(self, value: object, path: str = "") -> None:
        self.path = path
        if not isinstance(value, Mapping):
            raise self.error("", "an object", describe(value))
        self._values: Mapping[str, Any] = value
        self._read: set[str] = set()

    def error(self, key: str, expected: str, found: str) -> ProfileError:
        """The error for a wrong ``key`` of this object."""
        return ProfileError("wrong value in the profile", thing=self.key(key), expected=expected, found=found)

    def key(self, key: str) -> str:
        """The full path of ``key``."""
        return ".".join(part for part in (self.path, key) if part) or "the profile"

    def finish(self) -> None:
        """Refuse keys that nobody read: a misspelt key must not silently become a default."""
        if unknown := sorted(set(self._values) - self._read):
            raise self.error(str(unknown[0]), "no such key", describe(self._values[unknown[0]]))

    def raw(self, key: str) -> Any:
        """The value of ``key`` as it stands; the key must be there."""
        self._read.add(key)
        if key not in self._values:
            raise self.error(key, "the key to be present", "nothing")
        return self._values[key]

    def optional(self, key: str, read: Callable[[str], T]) -> T | None:
        """``read(key)``, or None where the key is absent or null."""
        self._read.add(key)
        return None if self._values.get(key) is None else read(key)

    def text(self, key: str) -> str:
        """A string."""
        return str(self._typed(key, self.raw(key), str, "a string"))

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        """One of the given strings."""
        if (value := self.text(key)) not in choices:
            raise self.error(key, " or ".join(repr(c) for c in choices), describe(value))
        return value

    def truth(self, key: str) -> bool:
        """A boolean."""
        return bool(self._typed(key, self.raw(key), bool, "true or false"))

    def integer(self, key: str) -> int:
        """An integer in [0, 2**63)."""
        return self._integer(key, self.raw(key))

    def number(self, key: str) -> float:
        """An integer or a float."""
        value = self.raw(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(key, "a number", describe(value))
        return float(value)

    def integers(self, key: str) -> tuple[int, ...]:
        """An array of integers in [0, 2**63)."""
        return self._integers(key, self.raw(key))

    def integer_rows(self, key: str) -> tuple[tuple[int, ...], ...]:
        """An array of arrays of integers in [0, 2**63)."""
        rows = self._array(key, self.raw(key))
        return tuple(self._integers(f"{key}[{i}]", row) for i, row in enumerate(rows))

    def texts(self, key: str) -> tuple[str, ...]:
        """An array of strings."""
        values = self._array(key, self.raw(key))
        return tuple(self._typed(f"{key}[{i}]", value, str, "a string") for i, value in enumerate(values))

    def integer_map(self, key: str) -> dict[str, int]:
        """An object whose values are integers in [0, 2**63)."""
        return {name: self._integer(f"{key}.{name}", value) for name, value in self.mapping(key).items()}

    def integers_map(self, key: str) -> dict[str, tuple[int, ...]]:
        """An object whose values are arrays of integers in [0, 2**63)."""
        return {name: self._integers(f"{key}.{name}", value) for name, value in self.mapping(key).items()}

    def mapping(self, key: str) -> dict[str, Any]:
        """An object with any content."""
        return dict(self._typed(key, self.raw(key), Mapping, "an object"))

    def each(self, key: str, read: Callable[[object, str], T]) -> tuple[T, ...]:
        """An array of objects, each read by ``read(value, path)``."""
        values = self._array(key, self.raw(key))
        return tuple(read(value, f"{self.key(key)}[{i}]") for i, value in enumerate(values))

    def one(self, key: str, read: Callable[[object, str], T]) -> T:
        """An object, read by ``read(value, path)``."""
        return read(self.raw(key), self.key(key))

    def _typed(self, key: str, value: Any, kind: type[Any], expected: str) -> Any:
        if not isinstance(value, kind):
            raise self.error(key, expected, describe(value))
        return value

    def _array(self, key: str, value: Any) -> list[Any] | tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise self.error(key, "an array", describe(value))
        return value

    def _integer(self, key: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= INT64_MAX:
            raise self.error(key, "an integer from 0 to 2^63 - 1", describe(value))
        return value

    def _integers(self, key: str, value: Any) -> tuple[int, ...]:
        return tuple(self._integer(f"{key}[{i}]", item) for i, item in enumerate(self._array(key, value)))
