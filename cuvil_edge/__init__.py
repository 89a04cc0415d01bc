"""cuvil-edge: from a trained model to a verified, measured run on an edge board.

``compile`` makes an artifact of a model; ``InferenceContext`` runs one. Both are loaded when first used, so that
importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cuvil_edge.compiler import Artifact, compile
    from cuvil_edge.errors import CuvilError
    from cuvil_edge.runtime.session import InferenceContext

__version__ = "0.1.0"
__all__ = ["Artifact", "CuvilError", "InferenceContext", "compile"]

_HOMES = {
    "Artifact": "cuvil_edge.compiler",
    "compile": "cuvil_edge.compiler",
    "CuvilError": "cuvil_edge.errors",
    "InferenceContext": "cuvil_edge.runtime.session",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
