"""Units of columns, in figures and tables."""

from __future__ import annotations

_SCALES = {
    "bps": [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")],
    "bytes": [(1e6, "MB"), (1e3, "kB"), (1.0, "bytes")],
    "s": [(1.0, "s"), (1e-3, "ms")],
}
_FIXED = {"ns": (1e6, "ms"), "mbps": (1.0, "Mbit/s"), "percent": (1.0, "%")}
_UNITS = {"bps", "bytes", "packets", "s", "ms", "us", "ns", "m", "h", "mbps", "percent"}


def unit_of(name: str) -> str:
    """The unit at the end of a column's name."""
    ending = name.rpartition("_")[2]
    return ending if ending in _UNITS else ""


def scale(name: str, largest: float) -> tuple[float, str]:
    """The divisor, and the name of the resulting unit."""
    unit = unit_of(name)
    if unit in _FIXED:
        return _FIXED[unit]
    choices = _SCALES.get(unit, [(1.0, unit)])
    return next((c for c in choices if largest >= c[0]), choices[-1])


def label_of(name: str, unit: str) -> str:
    """The name of a column in words, with this unit."""
    words = name.rpartition(".")[2].removesuffix(f"_{unit_of(name)}").removeprefix("axis_").replace("_", " ")
    words = {"jain": "Jain's index", "jain index": "Jain's index"}.get(words, words)
    words = " ".join({"rtt": "RTT", "srtt": "smoothed RTT"}.get(word, word) for word in words.split(" "))
    return f"{words} ({unit})" if unit else words
