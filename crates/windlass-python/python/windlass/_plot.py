"""Time series of runs, with Matplotlib."""

from __future__ import annotations

from typing import Any

from ._errors import InputError
from ._table import Table
from ._units import label_of, scale



def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as e:
        raise ImportError("plots need Matplotlib: pip install 'windlass[plot]'") from e
    return plt.subplots(figsize=(7, 4), layout="constrained")[1]


def draw_series(table: Table, name: str, flow: str | None, ax: Any) -> Any:
    """Draws one time series in steps, with a line for each flow. A value is valid until the next value."""
    rows = [r for r in zip(table["flow"], table["time_s"], table[name], strict=True) if r[2] is not None]
    known = list(dict.fromkeys(r[0] for r in rows))
    if flow is not None and flow not in known:
        raise InputError(f"flow: {flow!r} has not recorded {name}; these flows have: {', '.join(known)}")
    ax = _axes(ax)
    by, unit = scale(name, max((r[2] for r in rows), default=0))
    for track in known if flow is None else [flow]:
        points = [(t, v / by) for f, t, v in rows if f == track]
        ax.step([t for t, _ in points], [v for _, v in points], where="post", label=track, linewidth=1)
    ax.set(xlabel="time (s)", ylabel=label_of(name, unit))
    ax.set_ylim(bottom=0)
    if len(known) > 1 and flow is None:
        ax.legend()
    ax.grid(alpha=0.3)
    return ax
