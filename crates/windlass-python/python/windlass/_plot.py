"""Figures, with Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from ._errors import InputError
from ._table import Table

_SCALES = {"bps": [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")], "bytes": [(1e6, "MB"), (1e3, "kB"), (1.0, "bytes")]}
_SPELT = {"mbps": "Mbit/s", "percent": "%", "ms": "ms", "s": "s", "h": "h"}
_OWN = {"point", "metric", "runs", "runs_without_value", "mean", "ci95_low", "ci95_high", "ci95_method", "sd", "median"}
_WIDE = 10
"""An axis has a logarithmic scale if its values differ by at least this factor."""


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as e:
        raise ImportError("plots need Matplotlib: pip install 'windlass[plot]'") from e
    return plt.subplots(figsize=(7, 4), layout="constrained")[1]


def _unit(name: str) -> str:
    ending = name.rpartition("_")[2]
    return ending if ending in {"bps", "bytes", "packets", "s", "ms", "us", "ns", "m"} else ""


def _scale(unit: str, largest: float) -> tuple[float, str]:
    """The divisor, and the name of the resulting unit."""
    choices = _SCALES.get(unit, [(1.0, unit)])
    return next((c for c in choices if largest >= c[0]), choices[-1])


def _label(name: str, unit: str) -> str:
    words = name.rpartition(".")[2].removesuffix(f"_{_unit(name)}").removeprefix("axis_").replace("_", " ")
    return f"{words} ({unit})" if unit else words


def draw_series(table: Table, name: str, flow: str | None, ax: Any) -> Any:
    """Draws one time series in steps, with a line for each flow. A value is valid until the next value."""
    rows = [r for r in zip(table["flow"], table["time_s"], table[name], strict=True) if r[2] is not None]
    known = list(dict.fromkeys(r[0] for r in rows))
    if flow is not None and flow not in known:
        raise InputError(f"flow: {flow!r} has not recorded {name}; these flows have: {', '.join(known)}")
    ax = _axes(ax)
    by, unit = _scale(_unit(name), max((r[2] for r in rows), default=0))
    for track in known if flow is None else [flow]:
        points = [(t, v / by) for f, t, v in rows if f == track]
        ax.step([t for t, _ in points], [v for _, v in points], where="post", label=track, linewidth=1)
    ax.set(xlabel="time (s)", ylabel=_label(name, unit))
    ax.set_ylim(bottom=0)
    if len(known) > 1 and flow is None:
        ax.legend()
    ax.grid(alpha=0.3)
    return ax


def _is_number(values: Sequence[Any]) -> bool:
    return any(isinstance(v, float) for v in values) and all(v is None or isinstance(v, float) for v in values)


def draw_points(points: Table, metric: str | None, x: str | None, ax: Any) -> Any:
    """Draws means over an axis, with a line for each combination of the other axes."""
    metrics = list(dict.fromkeys(points["metric"]))
    metric = metric or metrics[0]
    if metric not in metrics:
        raise InputError(f"metric: {metric!r} not found; the sweep has {', '.join(metrics)}")
    axes = [c for c in points.columns[1 : points.columns.index("metric")] if c not in _OWN]
    rows = [row for row in points.rows() if row["metric"] == metric and row["mean"] is not None]
    if not axes or not rows:
        raise InputError("the sweep has no axis or no run to draw")
    columns = {name: [row[name] for row in rows] for name in axes}
    if x is None:
        x = max(axes, key=lambda a: (_is_number(columns[a]), len(set(columns[a]))))
    if x not in axes:
        raise InputError(f"x: axis {x!r} not found; the sweep has {', '.join(axes)}")
    others = [a for a in axes if a != x]
    ax = _axes(ax)
    by, unit = _scale(_unit(metric), max(row["mean"] for row in rows))
    numeric = _is_number(columns[x])
    across, x_unit = _scale(_unit(x), max(columns[x])) if numeric else (1.0, "")
    # Text keeps the order of the axis.
    places = {value: i for i, value in enumerate(dict.fromkeys(columns[x]))}

    def line(row: dict[str, Any]) -> tuple[str, ...]:
        return tuple(str(row[a]) for a in others)

    order = {key: i for i, key in enumerate(dict.fromkeys(line(row) for row in rows))}
    rows.sort(key=lambda row: (order[line(row)], row[x] if numeric else places[row[x]]))
    for key, group in groupby(rows, key=line):
        drawn = list(group)
        means = [row["mean"] / by for row in drawn]
        spread = [[_half(row, "ci95_low", -1) / by for row in drawn], [_half(row, "ci95_high", 1) / by for row in drawn]]
        at = [row[x] / across if numeric else places[row[x]] for row in drawn]
        ax.errorbar(at, means, yerr=spread, label=", ".join(key), marker="o", markersize=4, linewidth=1.2, capsize=2)
    if numeric:
        positive = [v for v in columns[x] if v > 0]
        if len(positive) == len(columns[x]) and max(positive) >= _WIDE * min(positive):
            ax.set_xscale("log")
    else:
        ax.set_xticks(list(places.values()), [str(value) for value in places])
    ax.set(xlabel=_label(x, x_unit), ylabel=_label(metric, unit))
    ax.set_ylim(bottom=0)
    if others:
        ax.legend(title=", ".join(a.removeprefix("axis_") for a in others))
    ax.grid(alpha=0.3)
    return ax


def _half(row: dict[str, Any], end: str, sign: int) -> float:
    """Distance of an end of the interval from the mean; 0 without an interval."""
    value = row[end]
    return 0.0 if value is None else float(max(0.0, sign * (value - row["mean"])))


def draw_ranking(ranking: Table, measure: str | None, ax: Any) -> Any:
    """Draws the means of algorithms with intervals, the best at the top."""
    measures = list(dict.fromkeys(ranking["measure"]))
    measure = measure or measures[0]
    if measure not in measures:
        raise InputError(f"measure: {measure!r} not found; the ranking has {', '.join(measures)}")
    rows = [row for row in ranking.rows() if row["measure"] == measure and row["mean"] is not None]
    ax = _axes(ax)
    spread = [[_half(row, "mean_low", -1) for row in rows], [_half(row, "mean_high", 1) for row in rows]]
    ax.errorbar([row["mean"] for row in rows], range(len(rows)), xerr=spread, fmt="o", capsize=3)
    ax.set_yticks(range(len(rows)), [row["algorithm"] for row in rows])
    ax.invert_yaxis()
    words, _, ending = measure.rpartition("_")
    unit = _SPELT.get(ending)
    ax.set(xlabel=f"{words.replace('_', ' ')} ({unit})" if unit else measure.replace("_", " "))
    ax.grid(alpha=0.3)
    return ax
