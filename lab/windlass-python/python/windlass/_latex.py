"""Tables for LaTeX with the package booktabs."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from ._figure_data import Matrix, Means, Samples, shown
from ._units import label_of, scale, unit_of

_SPECIAL = {c: f"\\{c}" for c in "&%$#_{}"} | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}


def latex(data: Means | Samples | Matrix, command: str) -> str:
    """The numbers of a figure as a ``tabular``."""
    by, unit = scale(data.name, max((v for v in _values(data) if v != inf), default=1.0))
    match data:
        case Means():
            head, rows = _means(data, by)
        case Samples():
            head, rows = _samples(data, by)
        case Matrix():
            head, rows = _matrix(data, by)
    columns = "l" + "r" * (len(head) - 1)
    lines = [f"% {command}", f"% {label_of(data.name, unit)}", r"\begin{tabular}{" + columns + "}", r"\toprule", _row(head), r"\midrule"]
    return "\n".join([*lines, *map(_row, rows), r"\bottomrule", r"\end{tabular}", ""])


def _values(data: Means | Samples | Matrix) -> Iterable[float]:
    match data:
        case Means():
            return (high for group in data.groups.values() for *_, high in group)
        case Samples():
            return (value for group in data.groups.values() for value in group)
        case Matrix():
            return (value for row in data.values for value in row if value is not None)


def _means(data: Means, by: float) -> tuple[list[str], list[list[str]]]:
    places = dict.fromkeys(x for group in data.groups.values() for x, *_ in group)
    cells = {(label, x): (mean, low, high) for label, group in data.groups.items() for x, mean, low, high in group}

    def cell(label: str, x: object) -> str:
        if (label, x) not in cells:
            return "--"
        mean, low, high = (value / by for value in cells[label, x])
        return f"${_number(mean)}$ $[{_number(low)}, {_number(high)}]$" if low < high else f"${_number(mean)}$"

    head = [_text(label_of(data.x, unit_of(data.x) if data.numeric else "")), *(_text(label or label_of(data.name, scale(data.name, by)[1])) for label in data.groups)]
    return head, [[_text(shown(x)), *(cell(label, x) for label in data.groups)] for x in places]


def _samples(data: Samples, by: float) -> tuple[list[str], list[list[str]]]:
    def row(label: str, values: list[float]) -> list[str]:
        ordered = sorted(value / by for value in values)
        quantiles = [ordered[min(int(share * len(ordered)), len(ordered) - 1)] for share in (0.05, 0.5, 0.95)]
        return [_text(label), f"${len(values)}$", *(f"${_number(v)}$" for v in quantiles)]

    return ["", "values", r"5\,\%", "median", r"95\,\%"], [row(label, values) for label, values in data.groups.items()]


def _matrix(data: Matrix, by: float) -> tuple[list[str], list[list[str]]]:
    rows = [[_text(name), *("--" if v is None else f"${_number(v / by)}$" for v in row)] for name, row in zip(data.rows, data.values, strict=True)]
    return [f"{_text(data.row)} / {_text(data.column)}", *map(_text, data.columns)], rows


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _text(text: str) -> str:
    return "".join(_SPECIAL.get(c, c) for c in text)


def _number(value: float) -> str:
    if value == inf:
        return r"\infty"
    text = f"{value:.4g}"
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else text
