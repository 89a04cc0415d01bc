"""HTML and SVG that cannot hold anybody else's markup: every text is escaped unless it was made here."""

from __future__ import annotations

import html
from collections.abc import Iterable

from cuvil_edge.report.text import printable

_VOID = frozenset({"br", "col", "input", "meta"})
Attribute = str | int | float | bool | None


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


Child = Markup | str | None | Iterable["Child"]


def number(value: float) -> str:
    """A coordinate, short: two decimals at most."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def tag(_name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """An element.

    Args:
        _name: of the element.
        children: Markup as it is, other strings escaped, None left out, iterables flattened.
        attributes: ``class_`` is class, ``stroke_width`` is stroke-width; None and False are left out, True has no
            value, and floats are written as coordinates.
    """
    parts = [_name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        name = key.rstrip("_").replace("_", "-")
        parts.append(name if value is True else f'{name}="{_attribute(value)}"')
    head = f"<{' '.join(parts)}>"
    return Markup(head if _name in _VOID else f"{head}{join(children)}</{_name}>")


def join(*children: Child) -> Markup:
    """Children one after the other, escaped as :func:`tag` does."""
    return Markup("".join(_flat(child) for child in children))


def _flat(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str):
        return html.escape(printable(child), quote=False)
    return "".join(_flat(item) for item in child)


def _attribute(value: Attribute) -> str:
    return html.escape(printable(value)) if isinstance(value, str) else number(value or 0)
