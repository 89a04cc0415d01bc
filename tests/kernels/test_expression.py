"""Scalar expressions as C++: text, sharing, and exact answers at the corners of every element type."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Sample
from cuvil_edge.ir.scalar import Arg, Literal, ScalarExpr, call, cast, parse
from cuvil_edge.kernels.expression import is_vector_expression, render_body, render_expression
from cuvil_edge.ops.fused_elementwise import FusedElementwise
from tests.kernels.harness import Build, Case, make_case, run_cases, target_of

F32, I64, BOOL = DType.F32, DType.I64, DType.BOOL
INTEGERS = [DType(name) for name in ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")]


def text(source: str, *dtypes: DType) -> str:
    return render_expression(parse(source, dtypes, {}), ["x", "y", "z"])


def case_of(build: Build, expression: ScalarExpr, arrays: list[np.ndarray], want: np.ndarray) -> Case:
    """The expression over the arrays, expecting what is given rather than what numpy makes of it."""
    sample = Sample(FusedElementwise(expression), tuple(arrays))
    case = make_case(f"{expression}"[:200], sample, target_of(build), expected=[want])
    assert isinstance(case, Case), case
    return case


def check(build: Build, cases: list[Case]) -> None:
    failures, _ = run_cases(build, cases)
    assert not failures, "\n".join(failures[:20])


# --- text ---


def test_what_occurs_twice_is_computed_once() -> None:
    total = call("add", Arg(0, F32), Arg(1, F32))
    statements, result = render_body(call("mul", total, call("sigmoid", total)), ["x", "y"])
    assert len(statements) == 3
    assert sum("::add(" in line for line in statements) == 1
    assert result == "t2"


def test_equal_parts_that_are_different_objects_are_computed_once() -> None:
    first, second = (call("exp", call("neg", Arg(0, F32))) for _ in range(2))
    statements, _ = render_body(call("add", first, second), ["x"])
    assert sum("::exp(" in line for line in statements) == 1


def test_a_chain_that_doubles_at_every_step_stays_short() -> None:
    expression: ScalarExpr = Arg(0, F32)
    for _ in range(60):
        expression = call("mul", expression, call("sigmoid", expression))
    assert is_vector_expression(expression)
    assert len(render_body(expression, ["x"])[0]) == 120


def test_zeros_of_both_signs_are_kept_apart() -> None:
    x = Arg(0, F32)
    quotients = call("add", call("div", x, Literal(0.0, F32)), call("div", x, Literal(-0.0, F32)))
    assert len(render_body(quotients, ["x"])[0]) == 3


def test_bounds_by_constants_need_no_search_for_nan() -> None:
    assert text("max(a, 0)", F32) == "cuvil::math::relu(x)"
    assert text("min(max(a, 0), 6)", F32).startswith("cuvil::math::clamp(x, ")
    assert text("max(min(a, 6), 0)", F32).startswith("cuvil::math::clamp(x, ")
    assert text("max(a, b)", F32, F32) == "cuvil::math::max(x, y)"
    assert "clamp" not in text("max(a, 3)", I64)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 1e-45, 3.4e38, -0.0, 0.1])
def test_literals_are_exact(widest: Build, value: float) -> None:
    zero = np.zeros(5, np.float32)
    expression = call("add", Arg(0, F32), Literal(value, F32))
    check(widest, [case_of(widest, expression, [zero], np.full(5, value, np.float32))])


def test_literals_of_integers_wrap_as_their_type_does() -> None:
    assert render_expression(Literal(300, DType.U8), []) == "uint8_t{44}"
    assert render_expression(Literal(-(2**63), I64), []) == "int64_t{INT64_MIN}"
    assert render_expression(Literal(2**64 - 1, DType.U64), []) == "uint64_t{18446744073709551615u}"
    assert render_expression(Literal(200, DType.I8), []) == "int8_t{-56}"


def test_only_f32_and_bools_are_vectors() -> None:
    condition = call("gt", Arg(0, F32), Arg(1, F32))
    assert is_vector_expression(condition)
    assert is_vector_expression(call("select", Arg(2, BOOL), Arg(0, F32), Arg(1, F32)))
    assert not is_vector_expression(call("and", Arg(0, BOOL), Arg(1, BOOL)))
    assert not is_vector_expression(cast(Arg(0, F32), DType.F16))
    assert not is_vector_expression(cast(Arg(0, DType.U8), F32))


# --- answers ---


def limits(dtype: DType) -> tuple[int, int]:
    info = np.iinfo(dtype.numpy)
    return int(info.min), int(info.max)


def wrapped(values: list[int], dtype: DType) -> np.ndarray:
    bits = 8 * dtype.item_bytes
    low = limits(dtype)[0]
    return np.array([(value - low) % 2**bits + low for value in values], dtype.numpy)


def corner_pairs(dtype: DType) -> tuple[list[int], list[int]]:
    low, high = limits(dtype)
    numbers = (
        sorted({low, low + 1, -7, -3, -2, -1, 0, 1, 2, 3, 7, high - 1, high} & set(range(low, high + 1)))
        if dtype.item_bytes == 1
        else [n for n in (low, low + 1, -7, -3, -1, 0, 1, 2, 3, 7, high - 1, high) if n >= low]
    )
    return [a for a in numbers for _ in numbers], [b for _ in numbers for b in numbers]


def truncated(a: int, b: int) -> int:
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


EXACT: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": truncated,
    "mod": lambda a, b: a % b if b else 0,
    "fmod": lambda a, b: a - truncated(a, b) * b if b else 0,
    "min": min,
    "max": max,
}


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda dtype: dtype.value)
def test_integer_arithmetic_is_exact_at_the_limits(widest: Build, dtype: DType) -> None:
    left, right = corner_pairs(dtype)
    arrays = [np.array(side, dtype.numpy) for side in (left, right)]
    cases = []
    for function, exact in EXACT.items():
        want = wrapped([exact(a, b) for a, b in zip(left, right, strict=True)], dtype)
        cases.append(case_of(widest, call(function, Arg(0, dtype), Arg(1, dtype)), arrays, want))
    negated = wrapped([-a for a in left], dtype)
    cases.append(case_of(widest, call("neg", Arg(0, dtype)), arrays[:1], negated))
    cases.append(case_of(widest, call("abs", Arg(0, dtype)), arrays[:1], wrapped([abs(a) for a in left], dtype)))
    check(widest, cases)


@pytest.mark.parametrize("dtype", [DType.U8, DType.U16, DType.U32, DType.U64], ids=lambda dtype: dtype.value)
def test_shifts_by_the_width_and_more_give_0(widest: Build, dtype: DType) -> None:
    bits = 8 * dtype.item_bytes
    counts = [0, 1, bits - 1, bits, bits + 1, 255]
    values = np.array([2**bits - 3] * len(counts), dtype.numpy)
    arrays = [values, np.array(counts, dtype.numpy)]
    a, b = Arg(0, dtype), Arg(1, dtype)
    left = wrapped([(2**bits - 3) << count for count in counts], dtype)
    right = np.array([(2**bits - 3) >> count for count in counts], dtype.numpy)
    check(
        widest,
        [
            case_of(widest, call("shift_left", a, b), arrays, left),
            case_of(widest, call("shift_right", a, b), arrays, right),
        ],
    )


def test_powers_of_integers(widest: Build) -> None:
    bases = np.array([0, 2, -2, 3, -1, -1, 1, 10, 5, 2, 0, 7], np.int64)
    exponents = np.array([0, 10, 3, 4, 5, 6, 99, 18, 1, 63, -1, -2], np.int64)
    want = np.array([1, 1024, -8, 81, -1, 1, 1, 10**18, 5, -(2**63), 0, 0], np.int64)
    check(widest, [case_of(widest, call("pow", Arg(0, I64), Arg(1, I64)), [bases, exponents], want)])


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda dtype: dtype.value)
def test_floats_to_integers_truncate_and_never_trap(sanitized: Build, dtype: DType) -> None:
    low, high = limits(dtype)
    inside = [0.0, 0.9, -0.9, 1.5, 100.99] + ([-1.5, -100.99] if low else [])
    outside = [math.nan, math.inf, -math.inf, 1e30, -1e30, 2.0**31, -(2.0**31), 2.0**63, -(2.0**63), 2.0**64]
    for kind in (np.float32, np.float64):
        x = np.array(inside, kind)
        defined = case_of(sanitized, cast(Arg(0, DType.of(x)), dtype), [x], np.array(np.trunc(x), dtype.numpy))
        y = np.array(outside, kind)
        undefined = case_of(sanitized, cast(Arg(0, DType.of(y)), dtype), [y], np.zeros(len(y), dtype.numpy))
        undefined.expected = []  # any value will do
        check(sanitized, [defined, undefined])
    if dtype in (DType.I32, DType.I64):
        ends = np.array([1e30, -1e30, math.inf, -math.inf])
        want = np.array([high, low, high, low], dtype.numpy)
        check(sanitized, [case_of(sanitized, cast(Arg(0, DType.F64), dtype), [ends], want)])


def test_every_half_precision_number_converts_both_ways(native: Build) -> None:
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    wide = halves.astype(np.float32)
    with np.errstate(all="ignore"):
        neighbours = [np.nextafter(wide, np.float32(end)) for end in (np.inf, -np.inf)]
        middles = (wide[:-1].astype(np.float64) + wide[1:]) / 2
        numbers = np.concatenate([wide, *neighbours, middles.astype(np.float32)])
        cases = [
            case_of(native, cast(Arg(0, DType.F16), F32), [halves], wide),
            case_of(native, cast(Arg(0, F32), DType.F16), [numbers], numbers.astype(np.float16)),
        ]
    for case in cases:
        case.relative_tolerance = 0.0
    check(native, cases)


def test_doubles_round_to_half_precision_once(widest: Build) -> None:
    # Between 1 and the next half 1 + 2^-10 the middle is 1 + 2^-11; just above it f32 would round back to the middle.
    numbers = np.array([1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40, 1 + 3 * 2.0**-11 - 2.0**-40, 65520 - 1e-9, -65520.0])
    want = np.array([1, 1 + 2.0**-10, 1 + 2.0**-10, 65504, -np.inf], np.float16)
    cases = [case_of(widest, cast(Arg(0, DType.F64), DType.F16), [numbers], want)]
    check(widest, cases)
    with np.errstate(all="ignore"):
        assert np.array_equal(numbers.astype(np.float16), want)


def test_minima_and_maxima_keep_nan(native: Build) -> None:
    a = np.array([1, np.nan, 1, np.nan, -np.inf, 3] * 7, np.float32)
    b = np.array([np.nan, 1, 2, np.nan, 0, -np.inf] * 7, np.float32)
    x, y = Arg(0, F32), Arg(1, F32)
    crossed = call("max", call("min", x, Literal(2.0, F32)), Literal(5.0, F32))
    clipped = call("min", call("max", x, Literal(-1.0, F32)), Literal(2.0, F32))
    check(
        native,
        [
            case_of(native, call("max", x, y), [a, b], np.maximum(a, b)),
            case_of(native, call("min", x, y), [a, b], np.minimum(a, b)),
            case_of(native, call("max", x, Literal(0.0, F32)), [a], np.maximum(a, np.float32(0))),
            case_of(native, clipped, [a], np.clip(a, np.float32(-1), np.float32(2))),
            case_of(native, crossed, [a], np.maximum(np.minimum(a, np.float32(2)), np.float32(5))),
        ],
    )


@pytest.mark.parametrize("function", ["and", "or", "xor", "eq", "ne", "lt", "le", "gt", "ge", "min", "max"])
def test_truth_tables_on_bytes_and_on_masks(native: Build, function: str) -> None:
    a, b = np.array([False, False, True, True] * 9), np.array([False, True, False, True] * 9)
    names = {"and": "logical_and", "or": "logical_or", "xor": "logical_xor", "eq": "equal", "ne": "not_equal"}
    names |= {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "min": "minimum"}
    want = getattr(np, names.get(function, "maximum"))(a, b)
    x, y = (a * 2 - 1).astype(np.float32), (b * 2 - 1).astype(np.float32)
    zero = Literal(0.0, F32)
    masks = [call("gt", Arg(0, F32), zero), call("gt", Arg(1, F32), zero)]
    check(
        native,
        [
            case_of(native, call(function, Arg(0, BOOL), Arg(1, BOOL)), [a, b], want),
            case_of(native, call(function, *masks), [x, y], want),
        ],
    )


def test_choices_between_masks(native: Build) -> None:
    x = np.linspace(-2, 2, 37, dtype=np.float32)
    a, zero, one = Arg(0, F32), Literal(0.0, F32), Literal(1.0, F32)
    expression = call("select", call("gt", a, zero), call("lt", a, one), call("gt", call("neg", a), one))
    check(native, [case_of(native, expression, [x], np.where(x > 0, x < 1, -x > 1))])
    constant = call("and", call("gt", a, zero), Literal(True, BOOL))
    check(native, [case_of(native, constant, [x], x > 0)])
    number = cast(call("gt", a, zero), F32)
    check(native, [case_of(native, number, [x], (x > 0).astype(np.float32))])
    check(native, [case_of(native, cast(a, BOOL), [np.where(x > 0, x, 0)], x > 0)])
