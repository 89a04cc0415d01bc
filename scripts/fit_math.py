"""Find the polynomial coefficients of csrc/simd/math.h.

Each fit is a least-squares fit on Chebyshev nodes in extended precision, re-weighted until the largest error is flat
(Lawson's algorithm). Coefficients are rounded to f32 one at a time from the lowest power up, and the rest is fitted
again after each rounding, so that later coefficients repair the rounding of earlier ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray
WIDE = np.longdouble


def chebyshev_nodes(low: float, high: float, count: int) -> Array:
    """``count`` points of [low, high], dense at its ends."""
    angle = (np.arange(count, dtype=WIDE) + WIDE(0.5)) * (WIDE(np.pi) / count)
    return (WIDE(low) + WIDE(high)) / 2 + (WIDE(high) - WIDE(low)) / 2 * np.cos(angle)


def solve(matrix: Array, target: Array) -> Array:
    """Least squares by Householder QR in extended precision (LAPACK has no such type)."""
    a, b = matrix.copy(), target.copy()
    columns = a.shape[1]
    for k in range(columns):
        v = a[k:, k].copy()
        v[0] += np.copysign(np.sqrt(v @ v), v[0])
        v /= np.sqrt(v @ v)
        a[k:, k:] -= 2 * np.outer(v, v @ a[k:, k:])
        b[k:] -= 2 * v * (v @ b[k:])
    x = np.zeros(columns, dtype=WIDE)
    for k in range(columns - 1, -1, -1):
        x[k] = (b[k] - a[k, k + 1 : columns] @ x[k + 1 :]) / a[k, k]
    return x


def minimax(basis: Array, target: Array, scale: Array) -> Array:
    """Coefficients that make the largest |basis @ c - target| * scale small."""
    weight = np.ones(len(target), dtype=WIDE)
    best, best_error = np.zeros(basis.shape[1], dtype=WIDE), WIDE(np.inf)
    for _ in range(60):
        root = np.sqrt(weight) * scale
        c = solve(basis * root[:, None], target * root)
        error = np.abs(basis @ c - target) * scale
        if error.max() < best_error:
            best, best_error = c, error.max()
        weight = weight * (error / error.max() + WIDE(1e-3))
        weight /= weight.mean()
    return best


def fit(
    name: str,
    low: float,
    high: float,
    degree: int,
    target: Callable[[Array], Array],
    scale: Callable[[Array], Array],
    even: bool = False,
) -> None:
    """Print f32 coefficients c of sum c[i] * x**i (x**(2*i) when ``even``), lowest power first.

    ``scale`` turns an error of the polynomial into a relative error of the function it serves.
    """
    x = chebyshev_nodes(low, high, 600)
    powers = np.stack([x ** (i * (2 if even else 1)) for i in range(degree + 1)], axis=1)
    fixed: list[np.float32] = []
    for i in range(degree + 1):
        done = powers[:, :i] @ np.array(fixed, dtype=WIDE) if i else np.zeros_like(x)
        fixed.append(np.float32(minimax(powers[:, i:], target(x) - done, scale(x))[0]))
    error = np.abs(powers @ np.array(fixed, dtype=WIDE) - target(x)) * scale(x)
    print(f"{name}: error {float(error.max()):.2e} = 2^{np.log2(float(error.max())):.1f}")
    print("    " + ", ".join(f"{float(c).hex()}f" for c in fixed))


def erf_series(x: Array) -> Array:
    """erf by its everywhere convergent series exp(-x*x) * sum of positive terms."""
    term = 2 * x / np.sqrt(WIDE("3.14159265358979323846264338"))
    total = term.copy()
    for n in range(1, 300):
        term = term * 2 * x * x / (2 * n + 1)
        total = total + term
    return total * np.exp(-x * x)


def erfc_tail(x: Array) -> Array:
    """erfc for x >= 0.9 by Lentz's continued fraction, evaluated backwards."""
    pi = WIDE("3.14159265358979323846264338")
    f = np.zeros_like(x)
    for k in range(2000, 0, -1):
        f = (WIDE(k) / 2) / (x + f)
    return np.exp(-x * x) / (np.sqrt(pi) * (x + f))


def fit_exponentials() -> None:
    """exp, expm1, log and pow."""
    half_ln2 = 0.34657359028 * 1.0005
    fit(
        "exp: exp(r) = 1 + r + r^2 P(r)",
        -half_ln2,
        half_ln2,
        4,
        lambda r: (np.expm1(r) - r) / r**2,
        lambda r: r**2 / np.exp(r),
    )
    fit(
        "expm1: expm1(r) = r + r^2 P(r)",
        -half_ln2,
        half_ln2,
        5,
        lambda r: (np.expm1(r) - r) / r**2,
        lambda r: np.abs(r),
    )
    fit(
        "log: log1p(f) = f - f^2/2 + f^3 P(f)",
        -0.29290,
        0.41422,
        8,
        lambda f: (np.log1p(f) - f + f * f / 2) / f**3,
        lambda f: np.abs(f**3 / np.log1p(f)),
    )
    fit(
        "pow: atanh(s)/s = 1 + s^2 P(s^2)",
        0.001,
        0.17165,
        3,
        lambda s: (np.arctanh(s) / s - 1) / s**2,
        lambda s: s**2,
        even=True,
    )


def fit_error_function() -> None:
    """erf near zero, and the exponent of erfc in its tail."""
    fit(
        "erf: erf(x) = x + x P(x^2), x <= 0.9",
        0.0005,
        0.905,
        6,
        lambda x: erf_series(x) / x - 1,
        lambda x: x / erf_series(x),
        even=True,
    )
    fit(
        "erf: erfc(x) = exp(-x P(x)), 0.9 <= x <= 4",
        0.895,
        4.0,
        8,
        lambda x: -np.log(erfc_tail(x)) / x,
        lambda x: x * erfc_tail(x) / erf_series(x),
    )


def fit_angles() -> None:
    """sin, cos, atan and asin."""
    quarter_pi = 0.78539816 * 1.0005
    fit(
        "sin: sin(r) = r + r^3 P(r^2)",
        0.004,
        quarter_pi,
        3,
        lambda r: (np.sin(r) - r) / r**3,
        lambda r: r**3 / np.sin(r),
        even=True,
    )
    fit(
        "cos: cos(r) = 1 - r^2/2 + r^4 P(r^2)",
        0.004,
        quarter_pi,
        3,
        lambda r: (np.cos(r) - 1 + r * r / 2) / r**4,
        lambda r: r**4 / np.cos(r),
        even=True,
    )
    fit(
        "atan: atan(x) = x + x^3 P(x^2)",
        0.004,
        0.41430,
        5,
        lambda x: (np.arctan(x) - x) / x**3,
        lambda x: x**3 / np.arctan(x),
        even=True,
    )
    fit(
        "asin: asin(x) = x + x^3 P(x^2)",
        0.004,
        0.5,
        6,
        lambda x: (np.arcsin(x) - x) / x**3,
        lambda x: x**3 / np.arcsin(x),
        even=True,
    )


def main() -> None:
    """Print every table of math.h."""
    fit_exponentials()
    fit_angles()
    fit_error_function()


if __name__ == "__main__":
    main()
