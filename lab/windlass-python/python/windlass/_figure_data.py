"""Data of figures: means with intervals, samples and matrices, from a folder of results or from results in memory."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import inf
from pathlib import Path
from typing import Any, TypeVar

from . import _native
from ._errors import InputError
from ._results import Results, load
from ._table import Table
from ._units import label_of, unit_of

_OWN = ("point", "metric", "experiment", "runs", "scenario", "scenario_hash", "version", "world", "seed")
_EVENTS = ("rtt_ns", "latency_ns")
"""Series whose samples are events, not states."""


@dataclass
class Source:
    """Results to draw: tables of a sweep or a comparison, and runs."""

    runs: Results
    points: list[dict[str, Any]] = field(default_factory=list)
    ranking: list[dict[str, Any]] = field(default_factory=list)
    harm: list[dict[str, Any]] = field(default_factory=list)
    folder: str | None = None


@dataclass
class Means:
    """Means with intervals at places of an axis, for each group."""

    name: str
    x: str
    numeric: bool
    groups: dict[str, list[tuple[Any, float, float, float]]]
    title: str = ""
    """The axes of the groups."""


@dataclass
class Samples:
    """Values by group; a value that never came is infinite."""

    name: str
    groups: dict[str, list[float]]


_Grouped = TypeVar("_Grouped", Means, Samples)


@dataclass
class Matrix:
    """A value for each row and column; ``None`` for a missing value."""

    name: str
    row: str
    column: str
    rows: list[str]
    columns: list[str]
    values: list[list[float | None]]


def of_folder(folder: str | Path) -> Source:
    """The results in a folder of a run, a sweep or a comparison."""
    path = Path(folder)
    if not path.is_dir():
        raise InputError(f"{path} is not a folder of results")
    tables = {name: _stored(path / f"{name}.csv") for name in ("points", "ranking", "harm")}
    points = tables["points"]
    if points:
        names = [name for name in points[0] if name not in _OWN][: _axes_of(points[0]["point"])]
        axes = Table(_native.axes([row["point"] for row in points])).to_dict()
        for i, row in enumerate(points):
            for name in names:
                row.pop(name, None)
            row.update({name: values[i] for name, values in axes.items()})
    return Source(load(path), points, tables["ranking"], tables["harm"], str(path))


def _axes_of(point: str) -> int:
    return point.count("=")


def _stored(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [{key: _number(value) for key, value in row.items()} for row in csv.DictReader(file)]


def _number(text: str) -> Any:
    try:
        return float(text) if text else None
    except ValueError:
        return text


def axes(source: Source) -> list[str]:
    """Columns of the axes of a sweep."""
    return list(Table(_native.axes([row["point"] for row in source.points])).columns) if source.points else []


def together(parts: Sequence[tuple[Source, _Grouped]]) -> _Grouped:
    """The groups of several folders, with the name of its folder before each."""
    first = parts[0][1]
    if len(parts) == 1:
        return first
    groups: dict[str, Any] = {}
    for i, (source, data) in enumerate(parts):
        folder = Path(source.folder).name if source.folder else f"results {i + 1}"
        if isinstance(data, Means) and isinstance(first, Means) and (data.x, data.numeric) != (first.x, first.numeric):
            raise InputError(f"results: {folder} has the axis {data.x}, and the first has {first.x}")
        for label, values in data.groups.items():
            name = f"{folder}: {label}" if label else folder
            if name in groups:
                raise InputError(f"results: two folders have the name {folder}")
            groups[name] = values
    return replace(first, groups=groups)


def known(what: str, name: str | None, names: Iterable[str]) -> str:
    """The name, or the first of the names; an error names all. A name needs no unit: ``goodput`` for ``goodput_mbps``."""
    all_ = list(dict.fromkeys(names))
    if name is None and all_:
        return all_[0]
    longer = [one for one in all_ if one.startswith(f"{name}_")]
    if name not in all_ and len(longer) == 1:
        return longer[0]
    if name not in all_:
        raise InputError(f"{what}: {name!r} not found; expected one of {', '.join(all_)}")
    return name


def means(source: Source, metric: str | None, x: str | None) -> Means:
    """The means of a sweep over an axis, or of a comparison."""
    if source.points:
        return _of_points(source, metric, x)
    if source.ranking:
        measure = known("metric", metric, (row["measure"] for row in source.ranking))
        rows = [row for row in source.ranking if row["measure"] == measure and row["mean"] is not None]
        rows.sort(key=lambda row: _place(source, row["algorithm"]))
        values = [(row["algorithm"], row["mean"], _or(row["mean_low"], row["mean"]), _or(row["mean_high"], row["mean"])) for row in rows]
        return Means(measure, "algorithm", False, {"": values})
    raise InputError("kind: lines and bars need a sweep or a comparison; draw runs by cdf or box")


def _of_points(source: Source, metric: str | None, x: str | None) -> Means:
    metric = known("metric", metric, (row["metric"] for row in source.points))
    names = axes(source)
    rows = [row for row in source.points if row["metric"] == metric and row["mean"] is not None]
    if not names or not rows:
        raise InputError("the sweep has no axis or no run to draw")
    columns = {name: [row[name] for row in rows] for name in names}
    if x is None:
        x = max(names, key=lambda a: (_is_number(columns[a]), len(set(columns[a]))))
    x = known("x", x, names)
    others = [name for name in names if name != x]
    numeric = _is_number(columns[x])
    order = {value: i for i, value in enumerate(dict.fromkeys(columns[x]))}
    groups: dict[str, list[tuple[Any, float, float, float]]] = {}
    for row in rows:
        mean = row["mean"]
        values = (row[x], mean, _or(row["ci95_low"], mean), _or(row["ci95_high"], mean))
        groups.setdefault(", ".join(shown(row[a]) for a in others), []).append(values)
    for group in groups.values():
        group.sort(key=lambda value: value[0] if numeric else order[value[0]])
    return Means(metric, x, numeric, groups, ", ".join(label_of(name, unit_of(name)) for name in others))


def _place(source: Source, algorithm: str) -> int:
    """Place of an algorithm in the order of the comparison, so that all kinds of figures have the same order and colours."""
    order = list(dict.fromkeys(point for point in source.runs.runs["point"] if point.startswith("all=")))
    point = f"all={algorithm}"
    return order.index(point) if point in order else len(order)


def _or(value: float | None, other: float) -> float:
    return other if value is None else value


def _is_number(values: Sequence[Any]) -> bool:
    return any(isinstance(v, float) for v in values) and all(v is None or isinstance(v, float) for v in values)


def samples(source: Source, metric: str | None, by: str | None) -> Samples:
    """Values of runs: of a series of events, of a column of flows, or of a column of runs."""
    wanted = metric or "goodput_bps"
    column = wanted.rpartition(".")[2]
    if column in _EVENTS or f"{column}_ns" in _EVENTS:
        column = column if column in _EVENTS else f"{column}_ns"
        told = [(point, flow, algorithm, [float(v) for v in values]) for point, flow, algorithm, values in _series(source, column)]
    else:
        table = source.runs.runs if wanted.startswith("run.") else source.runs.flows
        numbers = [name for name, values in table.to_dict().items() if all(v is None or isinstance(v, (int, float)) for v in values)]
        if column not in numbers:
            fault = "has no numbers" if column in table.columns else "not found"
            raise InputError(f"metric: {wanted!r} {fault}; expected rtt_ns, latency_ns or one of {', '.join(numbers)}")
        flows = table["flow"] if "flow" in table.columns else [""] * len(table)
        algorithms = table["algorithm"] if "algorithm" in table.columns else flows
        cells = zip(table["point"], flows, algorithms, table[column], strict=True)
        # A transfer that never ended takes for ever.
        told = [(point, flow, algorithm, [inf if value is None else float(value)]) for point, flow, algorithm, value in cells]
    # The runs of a comparison's ranking.
    told = [cell for cell in told if not cell[0].startswith(("odd=", "even="))] or told
    groups = _grouped(told, by)
    if not groups:
        raise InputError(f"metric: there is no value of {wanted}")
    return Samples(column, groups)


def _grouped(told: Sequence[tuple[str, str, str, list[float]]], by: str | None) -> dict[str, list[float]]:
    """Values by algorithm, flow or point. A group never mixes algorithms, so that their names are added where it would."""
    several = len({point for point, *_ in told}) > 1

    def label(point: str, flow: str, algorithm: str) -> str:
        if by == "algorithm":
            return algorithm
        return flow if by == "flow" or not several else ", ".join(part.partition("=")[2] for part in point.split(","))

    mixed: dict[str, set[str]] = {}
    for point, flow, algorithm, _ in told:
        mixed.setdefault(label(point, flow, algorithm), set()).add(algorithm)
    groups: dict[str, list[float]] = {}
    for point, flow, algorithm, values in told:
        name = label(point, flow, algorithm)
        groups.setdefault(f"{name}, {algorithm}" if len(mixed[name]) > 1 else name, []).extend(values)
    return groups


def _series(source: Source, column: str) -> list[tuple[str, str, str, list[int]]]:
    if source.folder is not None:
        found = _native.stored_series(source.folder, column)
    else:
        table = source.runs.series
        flows = source.runs.flows
        used = {(p, s, f): a for p, s, f, a in zip(flows["point"], flows["seed"], flows["flow"], flows["algorithm"], strict=True)}
        cells = zip(table["point"], table["seed"], table["flow"], table[column], strict=True) if column in table.columns else []
        found = [(point, flow, used.get((point, seed, flow), ""), [value]) for point, seed, flow, value in cells if value is not None]
    if not found:
        raise InputError(f"metric: no run has the series {column}; record it by `record.series` in the scenario of `windlass run --out`")
    return found


def matrix(source: Source, metric: str | None) -> Matrix:
    """The harm of a comparison, the fairness of its mixtures, or a metric of a sweep over two axes."""
    if source.points:
        return _of_two_axes(source, metric)
    if not source.harm and metric is None:
        raise InputError("kind: heat needs a sweep with two axes, or a comparison with harm")
    if metric is not None and metric.rpartition(".")[2] in ("jain", "jain_index"):
        return _fairness(source)
    measure = known("metric", metric, (row["measure"] for row in source.harm))
    cells = {(row["by"], row["to"]): row["harm"] for row in source.harm if row["measure"] == measure}
    names = sorted(dict.fromkeys(by for by, _ in cells), key=lambda name: _place(source, name))
    return Matrix(f"harm ({label_of(measure, '')})", "by", "to", names, names, [[cells.get((r, c)) for c in names] for r in names])


def _fairness(source: Source) -> Matrix:
    table, cells = source.runs.flows, dict[tuple[str, str], list[float]]()
    runs: dict[tuple[str, int], list[float]] = {}
    for place, seed, goodput in zip(table["point"], table["seed"], table["goodput_bps"], strict=True):
        runs.setdefault((place, seed), []).append(goodput or 0.0)
    for (point, _), goodputs in runs.items():
        squares = len(goodputs) * sum(goodput**2 for goodput in goodputs)
        value = sum(goodputs) ** 2 / squares if squares > 0 and len(goodputs) > 1 else None
        parts = dict(part.split("=", 1) for part in point.split(","))
        if "all" in parts:
            pair = (parts["all"], parts["all"])
        elif parts.get("even", "none") != "none" and parts.get("odd", "none") != "none":
            pair = (parts["odd"], parts["even"])
        else:
            continue
        if value is not None:
            cells.setdefault(pair, []).append(value)
    names = list(dict.fromkeys(a for a, _ in cells))
    values = [[_mean(cells.get((r, c), []) + (cells.get((c, r), []) if r != c else [])) for c in names] for r in names]
    return Matrix("Jain's index", "algorithm", "beside", names, names, values)


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _of_two_axes(source: Source, metric: str | None) -> Matrix:
    metric = known("metric", metric, (row["metric"] for row in source.points))
    names = axes(source)
    if len(names) != 2:
        raise InputError(f"kind: heat needs a sweep with two axes, not {len(names)}")
    rows = [row for row in source.points if row["metric"] == metric]
    ys, xs = (list(dict.fromkeys(row[name] for row in rows)) for name in names)
    cells = {(row[names[0]], row[names[1]]): row["mean"] for row in rows}
    grid: list[list[float | None]] = [[None] * len(xs) for _ in ys]
    for (i, y), (j, x) in product(enumerate(ys), enumerate(xs)):
        grid[i][j] = cells.get((y, x))
    return Matrix(metric, names[0], names[1], [shown(y) for y in ys], [shown(x) for x in xs], grid)


def shown(value: Any) -> str:
    """A value of an axis as text."""
    return f"{value:g}" if isinstance(value, float) else str(value)
