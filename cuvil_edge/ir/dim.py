"""Extents of tensors: plain ints, or integer expressions over named symbols.

An expression is a polynomial with integer coefficients over atoms; an atom is a symbol, a floor division, a maximum
or a minimum. Polynomials are kept in one canonical form, so expressions that expand to the same polynomial are equal.
A result without atoms is always returned as a plain int: static shapes are the special case that costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import gcd

UNBOUNDED = 2**62
"""Upper bound of a symbol that has none: no real extent reaches it, and sums of a few still fit 64 bits."""


@dataclass(frozen=True)
class Symbol:
    """A named dimension with its range; every value is a multiple of ``multiple_of`` in ``[min, max]``."""

    name: str
    min: int = 1
    max: int = UNBOUNDED
    multiple_of: int = 1

    def __str__(self) -> str:
        plain = self.name.isascii() and self.name.isidentifier()
        return self.name if plain else "`" + self.name.replace("`", "``") + "`"


@dataclass(frozen=True)
class _Operation:
    """A non-polynomial atom: ``floordiv``, ``max`` or ``min`` of two extents."""

    kind: str
    left: Extent
    right: Extent

    def __str__(self) -> str:
        if self.kind == "floordiv":
            return f"{_parenthesise(self.left)}//{_parenthesise(self.right)}"
        return f"{self.kind}({self.left}, {self.right})"


Atom = Symbol | _Operation
Monomial = tuple[Atom, ...]


def _parenthesise(extent: Extent) -> str:
    text = str(extent)
    return text if text.isalnum() or (text.startswith("`") and text.count("`") == 2) else f"({text})"


class Dim:
    """An extent that depends on at least one symbol. Immutable, hashable; has ``+ - * // %`` with ints and Dims."""

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms: dict[Monomial, int] = dict(sorted(terms.items(), key=lambda item: [str(atom) for atom in item[0]]))
        self._hash = hash(frozenset(self.terms.items()))

    @staticmethod
    def of(symbol: Symbol) -> Dim:
        """The expression that is just ``symbol``."""
        return Dim({(symbol,): 1})

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dim) and self.terms == other.terms

    def __add__(self, other: Extent) -> Extent:
        terms = dict(self.terms)
        for monomial, coefficient in _terms(other).items():
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return _normal(terms)

    def __mul__(self, other: Extent) -> Extent:
        terms: dict[Monomial, int] = {}
        for left, a in self.terms.items():
            for right, b in _terms(other).items():
                monomial = tuple(sorted(left + right, key=str))
                terms[monomial] = terms.get(monomial, 0) + a * b
        return _normal(terms)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Extent:
        return self * -1

    def __sub__(self, other: Extent) -> Extent:
        return self + (other * -1)

    def __rsub__(self, other: Extent) -> Extent:
        return (self * -1) + other

    def __floordiv__(self, other: Extent) -> Extent:
        return floordiv(self, other)

    def __rfloordiv__(self, other: Extent) -> Extent:
        return floordiv(other, self)

    def __mod__(self, other: Extent) -> Extent:
        return self - floordiv(self, other) * other

    def __str__(self) -> str:
        parts: list[str] = []
        for monomial, coefficient in self.terms.items():
            factors = [_parenthesise_atom(atom) for atom in monomial]
            if abs(coefficient) != 1 or not factors:
                factors.insert(0, str(abs(coefficient)))
            sign = "-" if coefficient < 0 else "+" if parts else ""
            parts.append(f"{sign}{'*'.join(factors)}")
        return "".join(parts)

    __repr__ = __str__


Extent = int | Dim
Shape = tuple[Extent, ...]


def _parenthesise_atom(atom: Atom) -> str:
    return f"({atom})" if isinstance(atom, _Operation) and atom.kind == "floordiv" else str(atom)


def _terms(extent: Extent) -> Mapping[Monomial, int]:
    return extent.terms if isinstance(extent, Dim) else {(): int(extent)}


def _normal(terms: dict[Monomial, int]) -> Extent:
    kept: dict[Monomial, int] = {}
    for monomial, coefficient in terms.items():
        monomial, coefficient = _restored(monomial, coefficient)
        kept[monomial] = kept.get(monomial, 0) + coefficient
    kept = {monomial: coefficient for monomial, coefficient in kept.items() if coefficient}
    if not kept or set(kept) == {()}:
        return kept.get((), 0)
    return Dim(kept)


def _atom(kind: str, left: Extent, right: Extent) -> Extent:
    return Dim({(_Operation(kind, left, right),): 1})


def floordiv(left: Extent, right: Extent) -> Extent:
    """``floor(left / right)``; for a constant divisor, what it surely divides is taken out of the division."""
    if isinstance(left, int) and isinstance(right, int):
        return left // right
    if left == right:
        return 1
    if not isinstance(right, int):
        return _divide_by_dim(left, right)
    if right == 1:
        return left
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, coefficient in _terms(left).items():
        quotient, remainder = divmod(coefficient, right)
        if remainder == 0:
            whole[monomial] = quotient
        elif not monomial:
            whole[()], rest[()] = quotient, remainder
        elif coefficient * _multiple_of(monomial) % right == 0:
            whole[_scaled_down(monomial)] = coefficient * _multiple_of(monomial) // right
        else:
            rest[monomial] = coefficient
    return _normal(whole) + _divide_rest(rest, right)


def _divide_rest(rest: dict[Monomial, int], right: int) -> Extent:
    """The part of a floor division that nothing more is known of than common factors and nested divisions."""
    if right > 0 and any(rest):
        multiples = [coefficient * _multiple_of(monomial) for monomial, coefficient in rest.items() if monomial]
        step = gcd(right, *multiples)
        rest[()] = rest.get((), 0) // step * step
        common = gcd(right, *rest.values())
        rest, right = {monomial: coefficient // common for monomial, coefficient in rest.items()}, right // common
    remaining = _normal(rest)
    if isinstance(remaining, int) or right == 1:
        return remaining // right
    nested = _sole_floordiv(remaining)
    if nested is not None and isinstance(nested.right, int) and nested.right > 0 and right > 0:
        # floor((floor(a / b) + r) / c) = floor((a + r * b) / (b * c)) for whole r and positive b, c.
        others = remaining - Dim({(nested,): 1})
        return floordiv(nested.left + others * nested.right, nested.right * right)
    return _atom("floordiv", remaining, right)


def _multiple_of(monomial: Monomial) -> int:
    """What every value of the product is a multiple of."""
    factor = 1
    for atom in monomial:
        factor *= atom.multiple_of if isinstance(atom, Symbol) else 1
    return factor


def _scaled_down(monomial: Monomial) -> Monomial:
    """The product divided by ``_multiple_of`` it: each symbol ``s`` becomes ``s // s.multiple_of``."""
    return tuple(
        _Operation("floordiv", Dim.of(atom), atom.multiple_of)
        if isinstance(atom, Symbol) and atom.multiple_of > 1
        else atom
        for atom in monomial
    )


def _multiple_symbol(atom: Atom) -> Symbol | None:
    """The symbol ``s`` if ``atom`` is ``s // s.multiple_of``, else None."""
    if isinstance(atom, Symbol) or atom.kind != "floordiv" or not isinstance(atom.left, Dim):
        return None
    monomial = next(iter(atom.left.terms))
    symbol = monomial[0] if len(monomial) == 1 else None
    if not isinstance(symbol, Symbol) or atom.left.terms != {monomial: 1}:
        return None
    return symbol if atom.right == symbol.multiple_of > 1 else None


def _restored(monomial: Monomial, coefficient: int) -> tuple[Monomial, int]:
    """The one form of a product with parts ``s // s.multiple_of``: as many of them as possible are symbols again."""
    if not any(map(_multiple_symbol, monomial)):
        return monomial, coefficient
    coefficient *= _multiple_of(monomial)
    atoms: list[Atom] = []
    for atom in sorted(_scaled_down(monomial), key=str):
        symbol = _multiple_symbol(atom)
        if symbol is not None and coefficient % symbol.multiple_of == 0:
            coefficient //= symbol.multiple_of
            atoms.append(symbol)
        else:
            atoms.append(atom)
    return tuple(sorted(atoms, key=str)), coefficient


def _divide_by_dim(left: Extent, right: Dim) -> Extent:
    """Exact polynomial division by a single monomial where it works, otherwise a floor-division atom."""
    if len(right.terms) == 1:
        (divisor, scale), quotient = next(iter(right.terms.items())), {}
        for monomial, coefficient in _terms(left).items():
            rest = list(monomial)
            if coefficient % scale or any(atom not in rest for atom in divisor):
                break
            for atom in divisor:
                if atom not in rest:
                    break
                rest.remove(atom)
            else:
                quotient[tuple(rest)] = coefficient // scale
                continue
            break
        else:
            return _normal(quotient)
    return _atom("floordiv", left, right)


def _sole_floordiv(extent: Dim) -> _Operation | None:
    """The floor division that ``extent`` contains once as a term of its own, or None if there are none or several."""
    found = [
        monomial[0]
        for monomial, coefficient in extent.terms.items()
        if coefficient == 1 and len(monomial) == 1 and isinstance(monomial[0], _Operation)
    ]
    found = [atom for atom in found if atom.kind == "floordiv"]
    return found[0] if len(found) == 1 else None


def ceildiv(left: Extent, right: Extent) -> Extent:
    """``ceil(left / right)`` for a positive divisor."""
    return floordiv(left + right - 1, right)


def maximum(left: Extent, right: Extent) -> Extent:
    """The larger of two extents; decided at once where the ranges of the symbols allow it."""
    if isinstance(left, int) and isinstance(right, int):
        return max(left, right)
    low, high = bounds(left - right)
    return left if low >= 0 else right if high <= 0 else _atom("max", left, right)


def minimum(left: Extent, right: Extent) -> Extent:
    """The smaller of two extents; decided at once where the ranges of the symbols allow it."""
    if isinstance(left, int) and isinstance(right, int):
        return min(left, right)
    low, high = bounds(left - right)
    return right if low >= 0 else left if high <= 0 else _atom("min", left, right)


def bounds(extent: Extent) -> tuple[int, int]:
    """A closed interval that surely contains every value of ``extent`` (interval arithmetic, saturating)."""
    if isinstance(extent, int):
        return extent, extent
    low = high = 0
    for monomial, coefficient in extent.terms.items():
        a, b = 1, 1
        for atom in monomial:
            c, d = _atom_bounds(atom)
            products = [a * c, a * d, b * c, b * d]
            a, b = _clamp(min(products)), _clamp(max(products))
        a, b = sorted((a * coefficient, b * coefficient))
        low, high = _clamp(low + a), _clamp(high + b)
    return low, high


def _clamp(value: int) -> int:
    return max(-UNBOUNDED, min(UNBOUNDED, value))


def _atom_bounds(atom: Atom) -> tuple[int, int]:
    if isinstance(atom, Symbol):
        return atom.min, atom.max
    (a, b), (c, d) = bounds(atom.left), bounds(atom.right)
    if atom.kind == "max":
        return max(a, c), max(b, d)
    if atom.kind == "min":
        return min(a, c), min(b, d)
    if c <= 0:
        return -UNBOUNDED, UNBOUNDED
    quotients = [a // c, a // d, b // c, b // d]
    return min(quotients), max(quotients)


def symbols_of(extent: Extent) -> frozenset[Symbol]:
    """All symbols that an extent depends on."""
    if isinstance(extent, int):
        return frozenset()
    found: set[Symbol] = set()
    for monomial in extent.terms:
        for atom in monomial:
            found |= {atom} if isinstance(atom, Symbol) else symbols_of(atom.left) | symbols_of(atom.right)
    return frozenset(found)


def evaluate(extent: Extent, values: Mapping[str, int]) -> int:
    """The value of ``extent`` where each symbol has the value given for its name; KeyError for a missing one."""
    result = _fold(extent, lambda symbol: values[symbol.name])
    assert isinstance(result, int)
    return result


def substitute(extent: Extent, replacements: Mapping[Symbol, Extent]) -> Extent:
    """``extent`` with symbols replaced by other extents."""
    return _fold(extent, lambda symbol: replacements.get(symbol, Dim.of(symbol)))


def _fold(extent: Extent, leaf: Callable[[Symbol], Extent]) -> Extent:
    if isinstance(extent, int):
        return extent
    total: Extent = 0
    for monomial, coefficient in extent.terms.items():
        product: Extent = coefficient
        for atom in monomial:
            product = product * (leaf(atom) if isinstance(atom, Symbol) else _fold_operation(atom, leaf))
        total = total + product
    return total


def _fold_operation(atom: _Operation, leaf: Callable[[Symbol], Extent]) -> Extent:
    left, right = _fold(atom.left, leaf), _fold(atom.right, leaf)
    return {"floordiv": floordiv, "max": maximum, "min": minimum}[atom.kind](left, right)


def render(extent: Extent, leaf: Callable[[Symbol], str], call: Callable[[str, str, str], str]) -> str:
    """``extent`` as source text of another language.

    Args:
        leaf: text of a symbol.
        call: text of ``add``, ``mul``, ``floordiv``, ``max`` or ``min`` of two rendered operands.
    """
    if isinstance(extent, int):
        return str(extent)
    total = ""
    for monomial, coefficient in extent.terms.items():
        product = "" if coefficient == 1 and monomial else str(coefficient)
        for atom in monomial:
            factor = (
                leaf(atom)
                if isinstance(atom, Symbol)
                else call(atom.kind, render(atom.left, leaf, call), render(atom.right, leaf, call))
            )
            product = call("mul", product, factor) if product else factor
        total = call("add", total, product) if total else product
    return total


def product(shape: Shape) -> Extent:
    """The number of elements of a shape; 1 for rank 0."""
    count: Extent = 1
    for extent in shape:
        count = count * extent
    return count
