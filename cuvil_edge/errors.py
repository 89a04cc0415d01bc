"""Every error that a user can cause or meet, as one family.

A message always has the same five parts: what failed, for which thing (the user's layer, a file and line, a key of
a board file), what was expected, what was found, and a hint. The command line prints them and exits with
``exit_code``; nothing else in the package prints.
"""

from __future__ import annotations


class CuvilError(Exception):
    """Base of all errors that are meant for the user; never shown as a traceback.

    Args:
        what: the failure, a short clause ("cannot read the model").
        thing: what it happened to ("model.onnx", "node Conv_3", "boards/x.toml: clusters[0].max_hz").
        expected: what would have been right.
        found: what was there instead.
        hint: what the user can do about it.
        details: further lines, such as all the other problems that were found in the same pass.
    """

    exit_code = 1

    def __init__(
        self,
        what: str,
        *,
        thing: str | None = None,
        expected: str | None = None,
        found: str | None = None,
        hint: str | None = None,
        details: tuple[str, ...] = (),
    ) -> None:
        self.what = what
        self.thing = thing
        self.expected = expected
        self.found = found
        self.hint = hint
        self.details = tuple(details)
        super().__init__(self.__str__())

    @property
    def kind(self) -> str:
        """The stable machine-readable name of the error: ``DiskFullError`` is ``disk_full``."""
        name = type(self).__name__.removesuffix("Error")
        return "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")

    def __str__(self) -> str:
        lines = [f"{self.thing}: {self.what}" if self.thing else self.what]
        lines += [f"  {line}" for line in self.details]
        for label in ("expected", "found", "hint"):
            if text := getattr(self, label):
                lines.append(f"  {label}: {text}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, object]:
        """The same parts as a JSON object, for ``--json``."""
        parts = {
            "kind": self.kind,
            "what": self.what,
            "thing": self.thing,
            "expected": self.expected,
            "found": self.found,
            "hint": self.hint,
            "details": list(self.details),
        }
        return {key: value for key, value in parts.items() if value}


class UsageError(CuvilError):
    """Wrong command-line or API usage (an unknown flag value, a missing argument)."""

    exit_code = 2


class ConfigError(CuvilError):
    """A data file (board, target, toolchain, devices, configuration) is missing a key or has a wrong value."""


class ModelError(CuvilError):
    """The user's model is not valid: cannot be parsed, is cyclic, contradicts itself."""


class UnsupportedError(CuvilError):
    """The model is valid, but uses something that cuvil-edge does not support; lists every such place."""


class ShapeError(CuvilError):
    """Shapes do not fit: in the model, or in the arrays of a run."""


class InputError(CuvilError):
    """The inputs of a run do not match the model: name, dtype, rank, extent or memory."""


class CompileError(CuvilError):
    """Generated code could not be built: no compiler, a compiler failure, no space for the kernel cache."""


class ArtifactError(CuvilError):
    """A ``.cuvil`` file cannot be used: damaged, changed, of a newer format."""


class IncompatibleError(ArtifactError):
    """The artifact is sound, but not for this machine: other architecture or missing CPU features."""


class RuntimeFailure(CuvilError):
    """A run failed: a kernel refused its data, or memory could not be had."""


class RemoteError(CuvilError):
    """Base of everything that can go wrong on the way to a device and on it."""


class ConnectError(RemoteError):
    """The device cannot be reached: no route, connection refused, name not found."""


class HostKeyError(RemoteError):
    """The device's host key is unknown or has changed."""


class AuthError(RemoteError):
    """The device refused every key that was offered."""


class LinkLostError(RemoteError):
    """The connection was dropped in the middle of an operation."""


class RemoteTimeoutError(RemoteError):
    """A remote step took longer than its limit."""


class DiskFullError(RemoteError):
    """No space left on the device (or here, for the kernel cache)."""


class WrongArchitectureError(RemoteError):
    """The device's CPU architecture is not the artifact's."""


class MissingFeatureError(RemoteError):
    """The device's CPU lacks an instruction-set feature that the artifact needs."""


class CrashedError(RemoteError):
    """The program on the device was ended by a signal."""


class OutOfMemoryError(RemoteError):
    """The program on the device was killed for memory, or could not allocate."""


class WrongAnswerError(RemoteError):
    """The device computes something else than the reference; the release was not activated."""


class RemoteCommandError(RemoteError):
    """A command on the device failed in a way that has no name of its own."""
