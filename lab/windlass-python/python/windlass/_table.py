"""Tables of results."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    import pandas

_SHOWN = 10


class Table:
    """A table: columns with names, units and meanings.

    It supports the Arrow PyCapsule interface, so that pandas, Polars, DuckDB and pyarrow read it without a copy:
    ``polars.DataFrame(t)``, ``pyarrow.table(t)``, ``duckdb.sql("from t")``. None of these packages is required.
    """

    def __init__(self, native: _native.Table) -> None:
        self._native = native

    @property
    def columns(self) -> list[str]:
        """Names of the columns. A name ends with the column's unit, if the column has a unit."""
        return [name for name, _, _ in self._native.columns]

    @property
    def units(self) -> dict[str, str]:
        """Units of the columns that have a unit: ``{"goodput_bps": "bps"}``."""
        return {name: unit for name, unit, _ in self._native.columns if unit}

    @property
    def meanings(self) -> dict[str, str]:
        """Meaning of each column, as a phrase."""
        return {name: meaning for name, _, meaning in self._native.columns}

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, name: str) -> list[Any]:
        """The values of a column; ``None`` for a missing value."""
        try:
            place = self.columns.index(name)
        except ValueError:
            raise KeyError(f"column {name!r} not found; the table has {', '.join(self.columns)}") from None
        return self._native.column(place)

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, each as a dictionary."""
        names, values = self.columns, list(self.to_dict().values())
        return (dict(zip(names, row, strict=True)) for row in zip(*values, strict=True))

    def to_dict(self) -> dict[str, list[Any]]:
        """The values as a dictionary of lists."""
        return self._native.to_dict()

    def to_pandas(self) -> pandas.DataFrame:
        """As a pandas frame; through pyarrow if it is installed."""
        import pandas

        try:
            import pyarrow
        except ImportError:
            return pandas.DataFrame(self.to_dict())
        frame: pandas.DataFrame = pyarrow.table(self).to_pandas()
        return frame

    def to_polars(self) -> Any:
        """As a Polars frame, without a copy."""
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> Any:
        """As a pyarrow table, without a copy."""
        import pyarrow

        return pyarrow.table(self)

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<Table: {len(self)} rows; {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        # Columns with the same value in every row are not shown, but they are in the frame.
        told = {n: v for n, v in self.to_dict().items() if len(self) == 1 or any(x != v[0] for x in v)}
        meanings = self.meanings
        head = "".join(f'<th title="{escape(meanings[name])}">{escape(name)}</th>' for name in told)
        rows = zip(*(values[:_SHOWN] for values in told.values()), strict=True)
        cell = "".join
        body = cell(f"<tr>{cell(f'<td>{escape(_shown(x))}</td>' for x in row)}</tr>" for row in rows)
        more = f"<p>{len(self)} rows, {len(self.columns)} columns</p>"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _shown(value: object) -> str:
    match value:
        case None:
            return "–"
        case float():
            return f"{value:.4g}" if abs(value) < 1e5 else f"{value:,.0f}"
        case list():
            return f"{len(value)} values"
        case _:
            return str(value)


def algorithms() -> Table:
    """Every congestion-control algorithm, slow start and retransmission timer, with its origin."""
    return Table(_native.algorithms())
