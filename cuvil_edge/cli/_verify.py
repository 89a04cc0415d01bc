"""Comparing the answers of this machine with the reference case of an artifact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cuvil_edge.cli._array_files import Array
from cuvil_edge.cli._inputs import reference_arrays
from cuvil_edge.errors import WrongAnswerError
from cuvil_edge.profile.records import Verification, VerifiedOutput

if TYPE_CHECKING:
    from cuvil_edge.artifact.reader import ArtifactReader
    from cuvil_edge.runtime.session import InferenceContext


def verify_here(context: InferenceContext, artifact: ArtifactReader) -> Verification | None:
    """Run the first reference case and compare; None where the artifact has none.

    Raises:
        WrongAnswerError: an output is outside of the case's tolerance.
    """
    manifest = artifact.manifest
    if not manifest.reference:
        return None
    case = manifest.reference[0]
    results = context.run(*reference_arrays(artifact, case.inputs, case.input_shapes, manifest.inputs))
    wanted = reference_arrays(artifact, case.outputs, case.output_shapes, manifest.outputs)
    outputs = tuple(
        compare(tensor.name, results[tensor.name], expected, case.relative_tolerance, case.absolute_tolerance)
        for tensor, expected in zip(manifest.outputs, wanted, strict=True)
    )
    if bad := [output for output in outputs if output.mismatches]:
        raise WrongAnswerError(
            "this machine computes something else than the reference",
            thing=f"{artifact.path}, case {case.name}",
            expected=f"within {case.relative_tolerance:g} of the output's range",
            details=tuple(f"{output.name}: {output.mismatches:,} elements differ" for output in bad),
            hint="please report this with the model, and with what 'cuvil-edge boards host' prints",
        )
    return Verification(passed=True, outputs=outputs, reference=case.name)


def compare(
    name: str, got: Array, wanted: Array, relative_tolerance: float, absolute_tolerance: float
) -> VerifiedOutput:
    """How far ``got`` is from ``wanted``.

    An element passes if ``|got - wanted| <= absolute_tolerance + relative_tolerance * max |wanted|``, the maximum over
    the tensor; NaN equals NaN, and an infinity itself; integers and bools must be equal.
    """
    if got.shape != wanted.shape:
        return VerifiedOutput(name=name, mismatches=max(got.size, 1), shape=got.shape)
    if got.dtype.kind != "f":
        return VerifiedOutput(name=name, mismatches=int((got != wanted).sum()), shape=got.shape)
    a, b = got.astype(np.float64), wanted.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    span = float(np.abs(b[np.isfinite(b)]).max(initial=0.0))
    with np.errstate(invalid="ignore"):
        error = np.where(same, 0.0, np.abs(a - b))
    near = same | (error <= absolute_tolerance + relative_tolerance * span)
    known = error[np.isfinite(error)]
    largest = float(known.max(initial=0.0))
    return VerifiedOutput(
        name=name,
        mismatches=int((~near).sum()),
        shape=got.shape,
        max_abs_error=largest,
        max_rel_error=largest / span if span else None,
        nan_count=int(np.isnan(a).sum()),
    )
