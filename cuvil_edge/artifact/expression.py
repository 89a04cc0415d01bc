"""Integer expressions over a model's symbols, as a manifest stores extents, sizes and FLOP counts.

Grammar (white space is free)::

    sum     = product {("+" | "-") product}
    product = factor {("*" | "//") factor}
    factor  = INTEGER | SYMBOL | "-" factor | "(" sum ")" | ("max" | "min") "(" sum "," sum {"," sum} ")"
    SYMBOL  = an ASCII identifier, or any other name in backquotes (a backquote inside is doubled)

``//`` rounds towards minus infinity. Every value on the way must fit a signed 64-bit integer, as in the runtime.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from cuvil_edge.errors import ArtifactError
from cuvil_edge.fields import is_integer

_INT64_MIN: Final = -(2**63)
_INT64_MAX: Final = 2**63 - 1
_MAX_LENGTH: Final = 1 << 16
_MAX_DEPTH: Final = 100

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<int>[0-9]+)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<quoted>`(?:[^`]|``)+`(?!`))|(?P<op>//|[-+*(),]))"
)
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def quote_symbol(name: str) -> str:
    """A symbol's name as an expression spells it: as it is, or in backquotes when it is not an ASCII identifier."""
    return name if _IDENTIFIER.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def evaluate(expression: int | str, symbols: Mapping[str, int]) -> int:
    """The value of an int or of an expression text, with the given values of its symbols.

    Raises:
        ArtifactError: bad syntax, a symbol without a value, division by zero, or a value outside 64 bits.
    """
    if not isinstance(expression, str):
        return int(expression)
    return parse(expression).evaluate(symbols)


@lru_cache(maxsize=4096)
def parse(text: str) -> Expression:
    """Parses an expression; raises ArtifactError that shows the place of the mistake."""
    return _Parser(text).parse()


@dataclass(frozen=True)
class Expression:
    """A parsed expression: a program for a stack machine (so that a long text cannot exhaust the Python stack)."""

    text: str
    code: tuple[tuple[str, int | str], ...]
    symbols: frozenset[str]

    def evaluate(self, symbols: Mapping[str, int]) -> int:
        """The value for the given symbols; raises ArtifactError as ``evaluate`` does."""
        stack: list[int] = []
        for operation, operand in self.code:
            if operation == "int":
                stack.append(int(operand))
            elif operation == "symbol":
                stack.append(self._value_of(str(operand), symbols))
            elif operation == "negate":
                stack.append(-stack.pop())
            else:
                right, left = stack.pop(), stack.pop()
                stack.append(self._apply(operation, left, right))
            if not _INT64_MIN <= stack[-1] <= _INT64_MAX:
                raise self._fault("a value does not fit 64 bits", found=_show_values(self.symbols, symbols))
        return stack[0]

    def _value_of(self, name: str, symbols: Mapping[str, int]) -> int:
        value = symbols.get(name)
        if value is None or not is_integer(value):
            known = ", ".join(sorted(symbols)) or "none"
            raise self._fault(f'symbol "{name}" has no value', found=f"values for: {known}")
        return value

    def _apply(self, operation: str, left: int, right: int) -> int:
        if operation == "+":
            return left + right
        if operation == "-":
            return left - right
        if operation == "*":
            return left * right
        if operation == "max":
            return max(left, right)
        if operation == "min":
            return min(left, right)
        if right == 0:
            raise self._fault("division by zero")
        return left // right

    def _fault(self, what: str, found: str | None = None) -> ArtifactError:
        return ArtifactError(what, thing=f'expression "{_shorten(self.text)}"', found=found)


def _shorten(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."


def _show_values(names: frozenset[str], symbols: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {symbols[name]}" for name in sorted(names) if name in symbols) or "no symbols"


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        if len(text) > _MAX_LENGTH:
            raise self._fault(0, f"an expression of at most {_MAX_LENGTH} characters", f"{len(text)} characters")
        self._tokens = self._split()
        self._next = 0
        self._depth = 0
        self._code: list[tuple[str, int | str]] = []

    def parse(self) -> Expression:
        self._sum()
        kind, value, position = self._peek()
        if kind != "end":
            raise self._fault(position, "an operator or the end", f'"{value}"')
        symbols = frozenset(str(operand) for operation, operand in self._code if operation == "symbol")
        return Expression(self._text, tuple(self._code), symbols)

    def _split(self) -> list[tuple[str, str, int]]:
        tokens: list[tuple[str, str, int]] = []
        position, end = 0, len(self._text.rstrip())
        while position < end:
            match = _TOKEN.match(self._text, position)
            if match is None:
                raise self._fault(position, "a number, a symbol or an operator", f'"{self._text[position:end][:20]}"')
            kind = str(match.lastgroup)
            tokens.append((kind, match[kind], match.start(kind)))
            position = match.end()
        tokens.append(("end", "the end", end))
        return tokens

    def _peek(self) -> tuple[str, str, int]:
        return self._tokens[self._next]

    def _take(self, *operators: str) -> str | None:
        kind, value, _ = self._peek()
        if kind == "op" and value in operators:
            self._next += 1
            return value
        return None

    def _expect(self, operator: str) -> None:
        if self._take(operator) is None:
            _, value, position = self._peek()
            raise self._fault(position, f'"{operator}"', f'"{value}"')

    def _sum(self) -> None:
        self._product()
        while operator := self._take("+", "-"):
            self._product()
            self._code.append((operator, ""))

    def _product(self) -> None:
        self._factor()
        while operator := self._take("*", "//"):
            self._factor()
            self._code.append((operator, ""))

    def _factor(self) -> None:
        kind, value, position = self._peek()
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._fault(position, f"at most {_MAX_DEPTH} nested parentheses", "more")
        self._next += 1
        if kind == "int":
            self._integer(value, position)
        elif kind == "name" and value in ("max", "min") and self._take("("):
            self._call(value)
        elif kind == "name":
            self._code.append(("symbol", value))
        elif kind == "quoted":
            self._code.append(("symbol", value[1:-1].replace("``", "`")))
        elif kind == "op" and value == "-":
            self._factor()
            self._code.append(("negate", ""))
        elif kind == "op" and value == "(":
            self._sum()
            self._expect(")")
        else:
            raise self._fault(position, "a number, a symbol or a parenthesis", f'"{value}"')
        self._depth -= 1

    def _integer(self, digits: str, position: int) -> None:
        if len(digits) > 20 or int(digits) > _INT64_MAX:
            raise self._fault(position, "an integer that fits 64 bits", _shorten(digits))
        self._code.append(("int", int(digits)))

    def _call(self, function: str) -> None:
        self._sum()
        self._expect(",")
        self._sum()
        self._code.append((function, ""))
        while self._take(","):
            self._sum()
            self._code.append((function, ""))
        self._expect(")")

    def _fault(self, position: int, expected: str, found: str) -> ArtifactError:
        return ArtifactError(
            f"bad expression at character {position + 1}",
            thing=f'expression "{_shorten(self._text)}"',
            expected=expected,
            found=found,
        )
