"""Installing an artifact on a device: at once or not at all, and only after it gave right answers there."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cuvil_edge.artifact.manifest import MANIFEST_NAME, ReferenceCase
from cuvil_edge.artifact.reader import ArtifactReader
from cuvil_edge.errors import RemoteCommandError, UsageError, WrongAnswerError
from cuvil_edge.profile.records import Verification, VerifiedOutput
from cuvil_edge.remote.agent import Agent, Tensor
from cuvil_edge.remote.layout import Layout, normalized_root
from cuvil_edge.remote.lock import DeployLock
from cuvil_edge.remote.script import run_script
from cuvil_edge.remote.transports._base import Source, Transport

OnStage = Callable[[str, int, int], None]
"""Called with (stage, done, total): bytes while uploading, else 0 of 0 when the stage begins."""

PROGRAM = "model"
WEIGHTS = "weights.bin"
_SHA256 = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")

# $1 folder, then files in it. Without sha256sum, the program that was uploaded hashes (itself too).
_HASH = r"""
cd "$1" || exit 1
shift
chmod 755 ./model || exit 1
tool() { sha256sum "$1"; }
command -v sha256sum >/dev/null 2>&1 || tool() { ./model --sha256 "$1"; }
for file; do tool "./$file" || exit 1; done
"""
# $1 model folder, $2 token, $3 sha256. Old versions of `sync` take no files, and then flush everything.
_INSTALL = r"""
cd "$1" || exit 1
[ "$(readlink lock)" = "$2" ] || { echo "the deployment lock was taken over" >&2; exit 1; }
find "incoming/$2" -exec sync {} + 2>/dev/null || sync
if [ -e "releases/$3" ]; then mv "releases/$3" "incoming/$2.broken" || exit 1; fi
mv "incoming/$2" "releases/$3" || exit 1
rm -rf "incoming/$2.broken"
sync releases 2>/dev/null || sync
"""
# $1 model folder, $2 token, $3 sha256: link `current` to it, `previous` to what was current, remove all others.
_SWITCH = r"""
cd "$1" || exit 1
[ "$(readlink lock)" = "$2" ] || { echo "the deployment lock was taken over" >&2; exit 1; }
point() {
  rm -f "$1.$3"
  ln -s "$2" "$1.$3" || exit 1
  mv -f -T "$1.$3" "$1" 2>/dev/null || { rm -f "$1.$3"; ln -sfn "$2" "$1"; } || exit 1
}
old=$(readlink current 2>/dev/null)
new=releases/$3
if [ -n "$old" ] && [ "$old" != "$new" ] && [ -d "$old" ]; then point previous "$old" "$2"; fi
point current "$new" "$2"
sync . 2>/dev/null || sync
previous=$(readlink previous 2>/dev/null)
for release in releases/*; do
  [ "$release" = "$new" ] || [ "$release" = "$previous" ] || rm -rf "$release"
done
echo "${old##*/}"
"""
# $1 model folder, $2 sha256: remove a release that nothing points to.
_DISCARD = r"""
cd "$1" || exit 1
[ "$(readlink current)" = "releases/$2" ] || [ "$(readlink previous)" = "releases/$2" ] || rm -rf "releases/$2"
"""
# $1 model folder: exchange `current` and `previous`.
_ROLLBACK = r"""
cd "$1" 2>/dev/null || { echo "none"; exit 0; }
[ "$(readlink lock)" = "$2" ] || { echo "the deployment lock was taken over" >&2; exit 1; }
point() {
  rm -f "$1.$3"
  ln -s "$2" "$1.$3" || exit 1
  mv -f -T "$1.$3" "$1" 2>/dev/null || { rm -f "$1.$3"; ln -sfn "$2" "$1"; } || exit 1
}
current=$(readlink current 2>/dev/null)
previous=$(readlink previous 2>/dev/null)
if [ -z "$previous" ] || [ "$previous" = "$current" ] || [ ! -d "$previous" ]; then echo none; exit 0; fi
point current "$previous" "$2"
[ -z "$current" ] || point previous "$current" "$2"
sync . 2>/dev/null || sync
echo "${previous##*/}" "${current##*/}"
"""
# $1 root
_LIST = r"""
cd "$1" 2>/dev/null || exit 0
for model in *; do
  [ -d "$model/releases" ] || continue
  current=$(readlink "$model/current" 2>/dev/null)
  previous=$(readlink "$model/previous" 2>/dev/null)
  echo "$model current=${current##*/} previous=${previous##*/}"
done
"""
_STATE = r"""
cd "$1" 2>/dev/null || exit 0
if [ -d "releases/$2" ]; then echo installed; fi
"""


@dataclass(frozen=True)
class Installed:
    """A model on a device: the releases (sha256 of their artifacts) that are current and kept as the previous one."""

    model: str
    current: str | None
    previous: str | None


@dataclass(frozen=True)
class Installation:
    """What ``install`` did."""

    layout: Layout
    sha256: str
    directory: str
    """The release on the device."""
    previous_sha256: str | None
    """What was current before, None if nothing (or the same) was."""
    uploaded_bytes: int
    """0 when the release was there already."""
    upload_duration_ns: int
    verifications: tuple[Verification, ...]


def install(
    transport: Transport, artifact: ArtifactReader, *, root: str, on_stage: OnStage | None = None
) -> Installation:
    """Upload, check, verify the answers on the device, then switch ``current`` to the new release.

    Whatever fails, ``current`` stays what it was, and the upload is removed.

    Raises:
        WrongAnswerError: the device computes something else than the reference.
        DiskFullError, LinkLostError, RemoteTimeoutError, CrashedError, ...: see ``errors``.
    """
    layout = Layout(root, artifact.manifest.model.name)
    stage = on_stage or (lambda _name, _done, _total: None)
    files = release_files(artifact)
    stage("lock", 0, 0)
    with DeployLock(transport, layout, lambda owner: stage(f"waiting for {owner}", 0, 0)) as lock:
        stage("upload", 0, 0)
        started_ns = time.monotonic_ns()
        uploaded_bytes = 0
        if not _is_whole(transport, layout, artifact.sha256, files):
            uploaded_bytes = _upload(transport, layout, lock.token, files, stage)
            stage("check", 0, 0)
            _check_hashes(transport, layout.incoming(lock.token), files)
            _script(transport, _INSTALL, layout, lock.token, artifact.sha256)
        upload_ns = time.monotonic_ns() - started_ns
        stage("verify", 0, 0)
        try:
            verifications = verify(transport, layout.release(artifact.sha256), artifact.manifest.reference, artifact)
        except BaseException as error:
            _discard(transport, layout, artifact.sha256, error)
            raise
        stage("activate", 0, 0)
        before = _script(transport, _SWITCH, layout, lock.token, artifact.sha256)
    previous = before[0] if before and before[0] and before[0] != artifact.sha256 else None
    return Installation(
        layout,
        artifact.sha256,
        layout.release(artifact.sha256),
        previous,
        uploaded_bytes,
        upload_ns if uploaded_bytes else 0,
        verifications,
    )


@dataclass(frozen=True)
class ReleaseFile:
    """A file of a release: where its bytes are here, and the hash that it must have there."""

    name: str
    source: Source
    sha256: str
    size_bytes: int


def release_files(artifact: ArtifactReader) -> tuple[ReleaseFile, ...]:
    """The files that go to a device: program, weights, manifest, reference cases (not the library).

    Raises:
        UsageError: the artifact has no program for devices.
    """
    manifest = artifact.manifest
    if manifest.program_name not in manifest.members:
        raise UsageError(
            "the artifact has no program that runs on a device",
            thing=artifact.path,
            expected=manifest.program_name,
            hint="compile it for a board: cuvil-edge compile MODEL --board NAME",
        )
    names = {manifest.program_name: PROGRAM, WEIGHTS: WEIGHTS, MANIFEST_NAME: MANIFEST_NAME}
    files = []
    for name in artifact.names:
        if name in names or name.startswith("reference/"):
            data = artifact.member(name)
            sha256 = artifact.sha256 if name == MANIFEST_NAME else manifest.members[name].sha256
            files.append(ReleaseFile(names.get(name, name), data, sha256, data.nbytes))
    return tuple(files)


def verify(
    transport: Transport, directory: str, cases: Sequence[ReferenceCase], artifact: ArtifactReader
) -> tuple[Verification, ...]:
    """Run every reference case in the release ``directory`` on the device and compare there.

    Raises:
        WrongAnswerError: an output is outside its tolerance.
        RemoteError: as ``Agent.start`` and ``Agent.request``.
    """
    results = []
    with Agent.start(transport, directory) as agent:
        for case in cases:
            reply = agent.verify(
                reference_inputs(case),
                [Tensor(path, shape) for path, shape in zip(case.outputs, case.output_shapes, strict=True)],
                case.relative_tolerance,
                case.absolute_tolerance,
            )
            result = _verification(reply, case.name, transport.label)
            if not result.passed:
                raise _wrong_answer(transport.label, artifact.path, case, result)
            results.append(result)
    return tuple(results)


def reference_inputs(case: ReferenceCase) -> list[Tensor]:
    """The inputs of a reference case, as files of the release."""
    return [Tensor(path, shape) for path, shape in zip(case.inputs, case.input_shapes, strict=True)]


def rollback(transport: Transport, model: str, *, root: str) -> tuple[str, str]:
    """Make the previous release current again, and the current one the previous; (now current, before current).

    Raises:
        UsageError: the model is not installed there, or has no previous release.
        RemoteError: the device could not do it; ``current`` is then unchanged.
    """
    layout = Layout(root, model)
    known = next((item for item in installed(transport, root=root) if item.model == model), None)
    if known is None or known.previous is None:
        found = "is not installed there" if known is None else "has no previous release"
        raise UsageError("there is nothing to roll back to", thing=f"{transport.label}: {model}", found=f"it {found}")
    with DeployLock(transport, layout) as lock:
        lines = _script(transport, _ROLLBACK, layout, lock.token)
    fields = lines[0].split() if lines else ["none"]
    if fields[0] == "none":
        found = "its previous release is gone"
        raise UsageError("there is nothing to roll back to", thing=f"{transport.label}: {model}", found=found)
    return fields[0], fields[1] if len(fields) > 1 else ""


def installed(transport: Transport, *, root: str) -> tuple[Installed, ...]:
    """The models on a device, by name; nothing is changed there."""
    lines = run_script(transport, _LIST, normalized_root(root), what="cannot list what is installed")
    found = []
    for line in lines:
        name, _, rest = line.partition(" ")
        fields: Mapping[str, str] = dict(part.split("=", 1) for part in rest.split(" ") if "=" in part)
        found.append(Installed(name, fields.get("current") or None, fields.get("previous") or None))
    return tuple(found)


def _script(transport: Transport, script: str, layout: Layout, *arguments: str) -> list[str]:
    return run_script(transport, script, layout.directory, *arguments, what="cannot change the installation")


def _is_whole(transport: Transport, layout: Layout, sha256: str, files: Sequence[ReleaseFile]) -> bool:
    """Whether the release is there, with every file as it should be."""
    if not _script(transport, _STATE, layout, sha256):
        return False
    try:
        found = _hashes(transport, layout.release(sha256), files)
    except RemoteCommandError:
        return False
    return all(found.get(file.name) == file.sha256 for file in files)


def _upload(transport: Transport, layout: Layout, token: str, files: Sequence[ReleaseFile], stage: OnStage) -> int:
    target = layout.incoming(token)
    folders = sorted({file.name.rpartition("/")[0] for file in files if "/" in file.name})
    run_script(
        transport,
        'cd "$1" || exit 1; shift; for folder; do mkdir -p "./$folder" || exit 1; done',
        target,
        *folders,
        what="cannot prepare the upload",
    )
    total = sum(file.size_bytes for file in files)
    done = 0
    for file in files:
        base = done
        transport.put(
            file.source,
            f"{target}/{file.name}",
            progress=lambda sent, _all, base=base: stage("upload", base + sent, total),  # type: ignore[misc]
        )
        done += file.size_bytes
    return total


def _hashes(transport: Transport, directory: str, files: Sequence[ReleaseFile]) -> dict[str, str]:
    names = [file.name for file in files]
    limit = transport.timeouts.run_seconds
    lines = run_script(transport, _HASH, directory, *names, what="cannot hash what arrived", timeout_seconds=limit)
    found = [match.group() for line in lines if (match := _SHA256.search(line)) is not None]
    return dict(zip(names, found, strict=False)) if len(found) == len(names) else {}


def _check_hashes(transport: Transport, directory: str, files: Sequence[ReleaseFile]) -> None:
    found = _hashes(transport, directory, files)
    for file in files:
        if found.get(file.name) != file.sha256:
            raise RemoteCommandError(
                "a file arrived damaged, and nothing was installed",
                thing=f"{transport.label}: {file.name}",
                expected=file.sha256,
                found=found.get(file.name, "no hash"),
                hint="deploy again; if it happens again, check the device's storage and memory",
            )


def _discard(transport: Transport, layout: Layout, sha256: str, error: BaseException) -> None:
    """Remove a release that failed, unless it is in use; the first error is the one to tell."""
    try:
        run_script(transport, _DISCARD, layout.directory, sha256, what="cannot remove a release")
    except Exception as second:
        error.add_note(f"and what was uploaded could not be removed: {second}")


def _verification(reply: Mapping[str, object], case: str, label: str) -> Verification:
    outputs = reply.get("outputs")
    try:
        if not isinstance(outputs, list) or not isinstance(reply.get("passed"), bool):
            raise TypeError
        return Verification(
            passed=bool(reply["passed"]),
            outputs=tuple(
                VerifiedOutput(
                    name=str(output["name"]),
                    mismatches=int(output["mismatches"]),
                    shape=tuple(int(extent) for extent in output.get("shape", ())),
                    max_abs_error=_number(output.get("max_abs_error")),
                    max_rel_error=_number(output.get("max_rel_error")),
                    nan_count=int(output.get("nan_count", 0)),
                )
                for output in outputs
            ),
            reference=case,
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise RemoteCommandError(
            "the agent's verification makes no sense", thing=label, found=str(reply)[:160]
        ) from None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _wrong_answer(label: str, path: str, case: ReferenceCase, result: Verification) -> WrongAnswerError:
    details = [
        f"{output.name}: {output.mismatches:,} elements differ"
        + (f", at most by {output.max_rel_error:.3g} of the output's range" if output.max_rel_error is not None else "")
        + (f", {output.nan_count:,} NaN" if output.nan_count else "")
        for output in result.outputs
        if output.mismatches or output.nan_count
    ]
    return WrongAnswerError(
        "the device computes something else than the reference; the release was not activated",
        thing=f"{label}: {path}, case {case.name}",
        expected=f"within {case.relative_tolerance:g} of the output's range",
        details=tuple(details),
        hint="what was installed before is still current; please report this with the model and the board's name",
    )
