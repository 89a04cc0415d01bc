"""Formatting of integers whose unit is part of their name. Storage never formats; reports do, through here."""

from __future__ import annotations


def _scaled(value: float, steps: tuple[tuple[float, str], ...], digits: int = 3) -> str:
    below_one = 1 - 0.5 * 10.0**-digits  # what rounds to 1 of a unit is written in it: 1 GHz, not 1e+03 MHz
    for factor, unit in steps:
        if abs(value) >= below_one * factor:
            scaled = value / factor
            return f"{scaled:.{digits}g} {unit}" if abs(scaled) < 10**digits * below_one else f"{scaled:,.0f} {unit}"
    factor, unit = steps[-1]
    return f"{value / factor:.{digits}g} {unit}"


def format_ns(value_ns: float, digits: int = 3) -> str:
    """A duration in nanoseconds as text with that many significant digits: ``1.23 ms``."""
    return _scaled(value_ns, ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")), digits)


def format_bytes(value_bytes: float) -> str:
    """A size in bytes as text, in binary units: ``4.5 MiB``."""
    return _scaled(value_bytes, ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B")))


def format_hz(value_hz: float) -> str:
    """A frequency in hertz as text: ``2.4 GHz``."""
    return _scaled(value_hz, ((1e9, "GHz"), (1e6, "MHz"), (1e3, "kHz"), (1, "Hz")))


def format_count(value: float, unit: str = "") -> str:
    """A plain count in decimal units: ``4.09 G``, ``25.6 MFLOP``."""
    return _scaled(value, ((1e9, f"G{unit}"), (1e6, f"M{unit}"), (1e3, f"k{unit}"), (1, unit))).rstrip()


def format_millidegrees(value_millidegrees: float) -> str:
    """A temperature in thousandths of a degree Celsius as text: ``48.5 °C``."""
    return f"{value_millidegrees / 1000:.1f} °C"
