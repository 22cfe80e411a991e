"""Figures for papers, with Matplotlib. ``windlass figure`` and ``plot`` draw by this module."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from math import inf
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from . import _native
from ._errors import Error, InputError
from ._figure_data import Matrix, Means, Samples, Source, matrix, means, of_folder, samples, shown, together
from ._latex import latex
from ._table import Table
from ._units import label_of, scale, unit_of

KINDS = ("line", "bar", "box", "cdf", "heat")
WIDTHS = {"ieee": 3.5, "ieee-two": 7.16, "acm": 3.33, "acm-two": 7.0}
"""Widths of one and two columns, inches."""
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
"""Okabe and Ito's colours, which all kinds of colour vision distinguish."""
_DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
_MARKERS = "osD^vPX*"
_HATCHES = ("", "//", "..", "\\\\", "xx", "++", "oo", "--")
_WIDE = 10
"""An axis has a logarithmic scale if its values differ by at least this factor."""


def figure(
    results: Any,
    kind: str | None = None,
    *,
    metric: str | None = None,
    x: str | None = None,
    by: str | None = None,
    width: str | float | None = None,
    height: float | None = None,
    out: str | PathLike[str] | None = None,
    ax: Any = None,
    command: str | None = None,
) -> Any:
    """Draws results for a paper, and returns the Matplotlib axes.

    Args:
        results: a folder of results, or the results of :func:`run`, :meth:`Sweep.run` or :func:`compare`. A list of them draws all into
            one picture, with the name of each folder before its groups.
        kind: ``line`` (means with bands of their 95 % intervals), ``bar`` (means with intervals), ``box`` or ``cdf`` (values of all runs),
            or ``heat`` (a matrix) [default: ``line`` or ``bar`` with means, otherwise ``cdf``].
        metric: a metric of the sweep or the comparison, with or without its unit. For ``cdf`` and ``box``: a column of flows such as
            ``completion_s``, or the series ``rtt_ns`` or ``latency_ns``. For ``heat`` of a comparison: a measure of harm, or ``jain_index``.
        x: the axis of a sweep along the picture [default: the axis with the most numbers].
        by: ``flow`` or ``algorithm``: the groups of ``cdf`` and ``box`` [default: the points].
        width: ``ieee`` (3.5 in), ``ieee-two``, ``acm`` (3.33 in), ``acm-two``, or inches [default: 7].
        height: inches [default: 0.62 of the width].
        out: a file to write: ``.svg``, ``.pdf``, ``.png`` (300 dots per inch), or ``.tex``, the numbers as a table for the package booktabs.
        ax: axes to draw into [default: new axes].
        command: the command in the metadata of the file [default: this call].
    """
    several = list(results) if isinstance(results, (list, tuple)) else [results]
    sources = [_source(one) for one in several]
    if not sources:
        raise InputError("results: the list is empty")
    source = sources[0]
    kind = kind or ("cdf" if not (source.points or source.ranking) else "line" if source.points and means(source, metric, x).numeric else "bar")
    if kind not in KINDS:
        raise InputError(f"kind: {kind!r} not found; expected one of {', '.join(KINDS)}")
    data: Means | Samples | Matrix
    if kind in ("line", "bar"):
        data = together([(s, means(s, metric, x)) for s in sources])
    elif kind == "heat" and len(sources) > 1:
        raise InputError("results: a matrix is of one folder")
    else:
        data = matrix(source, metric) if kind == "heat" else together([(s, samples(s, metric, by)) for s in sources])
    names = [s.folder or "results" for s in sources]
    told = command or f"windlass.figure({(names if len(names) > 1 else names[0])!r}, {kind!r})"
    if out is not None and fspath(out).endswith(".tex"):
        Path(out).write_text(latex(data, told), encoding="utf-8")
        return None
    return _drawn(kind, data, ax, _size(width, height), out, told)


def _source(results: Any) -> Source:
    if isinstance(results, Source):
        return results
    return of_folder(fspath(results)) if isinstance(results, (str, PathLike)) else results._source()


def _size(width: str | float | None, height: float | None) -> tuple[float, float]:
    if isinstance(width, str) and width not in WIDTHS:
        try:
            width = float(width)
        except ValueError:
            raise InputError(f"width: {width!r} not found; expected inches, or one of {', '.join(WIDTHS)}") from None
    inches = WIDTHS[width] if isinstance(width, str) else 7.0 if width is None else width
    if not 1 <= inches <= 50:
        raise InputError(f"width: {inches} inches; expected 1 to 50")
    return inches, height or 0.62 * inches


def _drawn(kind: str, data: Any, ax: Any, size: tuple[float, float], out: Any, command: str) -> Any:
    draw: dict[str, Callable[[Any, Any], int]] = {"line": _line, "bar": _bar, "box": _box, "cdf": _cdf, "heat": _heat}
    return _styled(lambda axes: draw[kind](axes, data), ax, size, out, command)


def _styled(draw: Callable[[Any], int], ax: Any, size: tuple[float, float], out: Any, command: str) -> Any:
    """Draws into new axes of this size, or into the given axes, with the style of papers; and writes the file."""
    try:
        import matplotlib as mpl
        import matplotlib.pyplot as plt
    except ImportError as e:
        raise ImportError("figures need Matplotlib: pip install 'windlass[plot]'") from e
    font = 8 if size[0] < 5 else 10
    style = {
        "font.size": font,
        "axes.titlesize": font,
        "legend.fontsize": font - 1,
        "xtick.labelsize": font - 1,
        "ytick.labelsize": font - 1,
        "axes.linewidth": 0.6,
        "axes.axisbelow": True,
        # Fonts as outlines of Type 42, which publishers accept, and the same bytes for the same figure.
        "pdf.fonttype": 42,
        "svg.hashsalt": "windlass",
        "hatch.linewidth": 0.5,
    }
    with mpl.rc_context(style):
        own = ax is None
        if own:
            ax = plt.subplots(figsize=size, layout="constrained")[1]
        lines = draw(ax)
        if own and lines > 2:
            # The axes keep their height.
            ax.figure.set_figheight(size[1] + (lines - 2) * 1.3 * font / 72)
        if out is not None:
            _save(ax.figure, fspath(out), command)
    return ax


def track(
    table: Table,
    name: str,
    *,
    flow: str | None = None,
    width: str | float | None = None,
    height: float | None = None,
    out: str | PathLike[str] | None = None,
    ax: Any = None,
    command: str | None = None,
) -> Any:
    """Draws one time series in steps, with a line for each flow. A value is valid until the next value. Arguments as of :func:`figure`."""
    rows = [r for r in zip(table["flow"], table["time_s"], table[name], strict=True) if r[2] is not None]
    flows = list(dict.fromkeys(r[0] for r in rows))
    if flow is not None and flow not in flows:
        raise InputError(f"flow: {flow!r} has not recorded {name}; these flows have: {', '.join(flows)}")
    by, unit = scale(name, max((r[2] for r in rows), default=0))

    def draw(axes: Any) -> int:
        for i, one in enumerate(flows if flow is None else [flow]):
            points = [(t, v / by) for f, t, v in rows if f == one]
            times, values = [t for t, _ in points], [v for _, v in points]
            axes.step(times, values, where="post", label=one, linewidth=1, color=_COLOURS[i % 8], linestyle=_DASHES[i // 8 % 8])
        axes.set(xlabel="time (s)", ylabel=label_of(name, unit))
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3, linewidth=0.5)
        return _legend(axes, flows if flow is None else [])

    return _styled(draw, ax, _size(width, height), out, command or f"windlass.plot({name!r})")


def _save(figure: Any, out: str, command: str) -> None:
    by = f"Windlass {_native.VERSION}"
    facts = {
        ".svg": {"Description": command, "Creator": by, "Date": None},
        ".pdf": {"Subject": command, "Creator": by, "CreationDate": None},
        ".png": {"Description": command, "Software": by},
    }
    ending = Path(out).suffix
    if ending not in facts:
        raise InputError(f"out: {out}: expected a name that ends with .svg, .pdf, .png or .tex")
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=300, metadata=facts[ending])


def _legend(ax: Any, groups: Sequence[str], title: str = "", *, above: bool = False) -> int:
    """Names the groups. Returns the number of lines above the axes."""
    if len(groups) < 2:
        return 0
    if above or len(groups) > 4:
        # Bars and many lines leave no room.
        columns = max(1, int(1.3 * ax.figure.get_figwidth() * 7 / (7 + max(map(len, groups)))))
        columns = min(columns, len(groups))
        ax.legend(frameon=False, ncols=columns, title=title or None, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        return -(-len(groups) // columns) + bool(title)
    ax.legend(frameon=False, title=title or None)
    return 0


def _dash(i: int) -> Any:
    """Dashes of the i-th line: together with its colour, 64 lines differ."""
    return _DASHES[(i + i // 8) % 8]


def _wide(values: Sequence[float]) -> bool:
    return min(values) > 0 and max(values) >= _WIDE * min(values)


def _line(ax: Any, data: Means) -> int:
    by, unit = scale(data.name, max(high for group in data.groups.values() for _, _, _, high in group))
    places = {v: i for i, v in enumerate(dict.fromkeys(x for group in data.groups.values() for x, _, _, _ in group))}
    across, x_unit = scale(data.x, max(places)) if data.numeric else (1.0, "")
    for i, (label, group) in enumerate(data.groups.items()):
        xs = [x / across if data.numeric else places[x] for x, _, _, _ in group]
        mean, low, high = ([value[k] / by for value in group] for k in (1, 2, 3))
        colour, marker = _COLOURS[i % 8], _MARKERS[(i + i // 8) % 8]
        if data.numeric:
            ax.fill_between(xs, low, high, color=colour, alpha=0.2, linewidth=0)
            ax.plot(xs, mean, label=label, color=colour, marker=marker, linestyle=_dash(i), markersize=3.5, linewidth=1, clip_on=False)
        else:
            # Categories have no order, so that no line joins them.
            shift = (i - (len(data.groups) - 1) / 2) * 0.6 / len(data.groups)
            spread = [[m - lo for m, lo in zip(mean, low, strict=True)], [hi - m for m, hi in zip(mean, high, strict=True)]]
            ax.errorbar([x + shift for x in xs], mean, spread, label=label, color=colour, fmt=marker, markersize=3.5, capsize=2, linewidth=1)
    if data.numeric and _wide([x / across for x in places]):
        ax.set_xscale("log")
        if len(places) <= 8:
            ax.set_xticks([x / across for x in places], [shown(x / across) for x in places], minor=False)
            ax.minorticks_off()
    if not data.numeric:
        ax.set_xticks(range(len(places)), [shown(x) for x in places])
        _turned(ax, [shown(x) for x in places])
        ax.set_xlim(-0.5, len(places) - 0.5)
    ax.set(xlabel=label_of(data.x, x_unit), ylabel=label_of(data.name, unit))
    ax.set_ylim(bottom=0, top=ax.get_ylim()[1] * 1.02)
    ax.grid(alpha=0.3, linewidth=0.5)
    return _legend(ax, list(data.groups), data.title, above=not data.numeric)


def _bar(ax: Any, data: Means) -> int:
    by, unit = scale(data.name, max(high for group in data.groups.values() for _, _, _, high in group))
    places = {v: i for i, v in enumerate(dict.fromkeys(x for group in data.groups.values() for x, _, _, _ in group))}
    wide = 0.8 / len(data.groups)
    for i, (label, group) in enumerate(data.groups.items()):
        xs = [places[x] + (i - (len(data.groups) - 1) / 2) * wide for x, _, _, _ in group]
        mean = [m / by for _, m, _, _ in group]
        spread = [[(m - lo) / by for _, m, lo, _ in group], [(hi - m) / by for _, m, _, hi in group]]
        look = {"color": _COLOURS[i % 8], "hatch": _HATCHES[(i + i // 8) % 8], "edgecolor": "black", "linewidth": 0.4}
        ax.bar(xs, mean, wide * 0.92, label=label, yerr=spread, error_kw={"capsize": 2, "elinewidth": 0.7, "capthick": 0.7}, **look)
    ax.set_xticks(range(len(places)), [shown(x) for x in places])
    _turned(ax, [shown(x) for x in places])
    x_unit = unit_of(data.x) if data.numeric else ""
    ax.set(xlabel=label_of(data.x, x_unit), ylabel=label_of(data.name, unit))
    ax.grid(axis="y", alpha=0.3, linewidth=0.5)
    return _legend(ax, list(data.groups), data.title, above=True)


def _turned(ax: Any, labels: Sequence[str]) -> None:
    """Turns labels that would touch each other."""
    if sum(len(label) + 2 for label in labels) > 9 * ax.figure.get_figwidth():
        ax.tick_params(axis="x", rotation=30)
        for label in ax.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")


def _finite(data: Samples) -> tuple[float, str]:
    values = [v for group in data.groups.values() for v in group if v != inf]
    return scale(data.name, max(values, default=1.0))


def _box(ax: Any, data: Samples) -> int:
    by, unit = _finite(data)
    groups = [[v / by for v in group if v != inf] for group in data.groups.values()]
    drawn = ax.boxplot(groups, patch_artist=True, widths=0.6, flierprops={"markersize": 2}, medianprops={"color": "black"})
    for i, patch in enumerate(drawn["boxes"]):
        patch.set(facecolor=_COLOURS[i % 8], alpha=0.6, linewidth=0.6)
    ax.set_xticks(range(1, len(groups) + 1), list(data.groups))
    _turned(ax, list(data.groups))
    ax.set_ylabel(label_of(data.name, unit))
    ax.set_ylim(bottom=0)
    ax.grid(axis="y", alpha=0.3, linewidth=0.5)
    return 0


def _cdf(ax: Any, data: Samples) -> int:
    by, unit = _finite(data)
    for i, (label, group) in enumerate(data.groups.items()):
        # A value that never came counts, so that its curve ends below one.
        values = sorted(v / by for v in group if v != inf)
        if values:
            steps = [j / len(group) for j in range(len(values) + 1)]
            ax.step([values[0], *values], steps, where="post", label=label, color=_COLOURS[i % 8], linestyle=_dash(i), linewidth=1.1)
    finite = [v for group in data.groups.values() for v in group if v != inf]
    if finite and min(finite) > 0 and max(finite) >= 100 * min(finite):
        ax.set_xscale("log")
    ax.set(xlabel=label_of(data.name, unit), ylabel="share of the values")
    ax.set_ylim(0, 1.02)
    ax.grid(alpha=0.3, linewidth=0.5)
    return _legend(ax, list(data.groups))


def _heat(ax: Any, data: Matrix) -> int:
    values = [v for row in data.values for v in row if v is not None]
    if not values:
        raise InputError(f"metric: there is no value of {data.name}")
    by, unit = scale(data.name, max(values))
    grid = [[float("nan") if v is None else v / by for v in row] for row in data.values]
    # Harm may be negative: its colours have their middle at zero.
    signed = min(values) < 0
    most = max(abs(v) for v in values) / by or 1.0
    limits = {"cmap": "PuOr", "vmin": -most, "vmax": most} if signed else {"cmap": "cividis"}
    drawn = ax.imshow(grid, aspect="auto", **limits)
    for i, row in enumerate(grid):
        for j, value in enumerate(row):
            if value == value:
                red, green, blue, _ = drawn.cmap(drawn.norm(value))
                ink = "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"
                ax.text(j, i, f"{value:.2g}" if abs(value) < 100 else f"{value:.0f}", ha="center", va="center", color=ink)
    ax.set_xticks(range(len(data.columns)), data.columns)
    ax.set_yticks(range(len(data.rows)), data.rows)
    _turned(ax, data.columns)
    ax.set(xlabel=label_of(data.column, unit_of(data.column)), ylabel=label_of(data.row, unit_of(data.row)))
    name = data.name if data.name.startswith(("harm", "Jain")) else label_of(data.name, unit)
    ax.figure.colorbar(drawn, ax=ax, label=name)
    return 0


def main() -> int:
    """Draws by the arguments of ``windlass figure``, a JSON object."""
    import matplotlib

    matplotlib.use("agg")
    try:
        figure(**json.loads(sys.argv[1]))
    except (Error, OSError) as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
