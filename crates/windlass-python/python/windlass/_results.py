"""Runs and their tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from html import escape
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _native
from ._controllers import Controller
from ._errors import InputError
from ._page import Page
from ._progress import Progress, told
from ._scenario import Scenario
from ._table import Table

if TYPE_CHECKING:
    import pandas

_Controllers: TypeAlias = "type[Controller] | Mapping[str, type[Controller]] | None"


class Results:
    """Finished runs as tables, with a row per run, flow or link direction. :func:`run` and :func:`load` return it.

    ``docs/src/reference/results.md`` explains every column. ``Table.meanings`` and ``Table.units`` have the same information.
    """

    def __init__(self, native: _native.Records, scenario: Scenario | None = None, controllers: _Controllers = None) -> None:
        self._native = native
        self._scenario, self._controllers = scenario, controllers

    def __len__(self) -> int:
        """Number of runs."""
        return len(self._native)

    @cached_property
    def runs(self) -> Table:
        """One row per run."""
        return Table(self._native.table("runs"))

    @cached_property
    def flows(self) -> Table:
        """One row per run and flow: goodput (bit/s), RTTs (ms), losses, retransmissions."""
        return Table(self._native.table("summary"))

    @cached_property
    def links(self) -> Table:
        """One row per run and link direction: utilisation, queueing, drops."""
        return Table(self._native.table("links"))

    @cached_property
    def cells(self) -> Table:
        """One row per run and Wi-Fi cell."""
        return Table(self._native.table("cells"))

    @cached_property
    def stations(self) -> Table:
        """One row per run and station of a Wi-Fi cell: airtime (s), energy (J)."""
        return Table(self._native.table("stations"))

    @cached_property
    def multipath(self) -> Table:
        """One row per run and multipath flow."""
        return Table(self._native.table("multipath"))

    @cached_property
    def subflows(self) -> Table:
        """One row per run and subflow of a multipath flow."""
        return Table(self._native.table("subflows"))

    @cached_property
    def series(self) -> Table:
        """Time series that the scenario records, with a row per time and flow. A value is valid until the next value.

        A folder has them in separate files: ``polars.scan_parquet("FOLDER/series/*/*/*.parquet")``.
        """
        return Table(self._native.series())

    @property
    def failed(self) -> list[str]:
        """Runs without a result, with the reason."""
        return self._native.failed

    def to_pandas(self) -> pandas.DataFrame:
        """The flows as a pandas frame."""
        return self.flows.to_pandas()

    def to_csv(self, table: str = "summary") -> str:
        """A table as ``windlass run --csv`` prints it, byte for byte."""
        return self._native.csv(table)

    def plot(self, series: str = "cwnd", *, seed: int | None = None, flow: str | None = None, ax: Any = None) -> Any:
        """Draws a time series of a run with Matplotlib, and returns the axes.

        If a run did not record the series, the same run is repeated with the recording.

        Args:
            series: name of a series, or its beginning, such as ``cwnd``, ``srtt`` or ``in_flight``.
            seed: seed of the run [default: the first].
            flow: name of a single flow to draw [default: all].
            ax: axes to draw into [default: new axes].
        """
        from ._plot import draw_series

        name = _native.series_name(series)
        return draw_series(self._traced(name, seed), name, flow, ax)

    def page(self) -> Page:
        """The first run over time, with its losses and the causes of cwnd reductions: the page that ``windlass run --out`` writes.

        If a run has no recording, the same run is repeated with the recording.
        """
        if self._scenario is None or self._controllers is not None:
            raise InputError("a page needs runs of a single scenario with its own algorithms, without Python controllers")
        return Page(self._native.page())

    def _traced(self, name: str, seed: int | None) -> Table:
        if self._scenario is None:
            raise InputError("these runs belong to several scenarios; plot a time series of one scenario by `run(scenario).plot(...)`")
        seed = self._scenario.seed if seed is None else seed
        if len(self.series) and any(s == seed and x is not None for s, x in zip(self.series["seed"], self.series[name], strict=True)):
            return Table(self._native.series_of(seed))
        again = self._scenario.set("seed", seed).set("record.series", [name])
        return run(again, progress=False, controllers=self._controllers).series

    def __repr__(self) -> str:
        return self._native.overview() or f"<{len(self)} runs>"

    def _repr_html_(self) -> str:
        overview = self._native.overview()
        return f"<pre>{escape(overview)}</pre>" if overview else self.flows._repr_html_()


def _classes(given: _Controllers, flows: list[str]) -> dict[str, tuple[str, type]]:
    """Name and class of the controller of each flow."""
    of = given if isinstance(given, Mapping) else {flow: given for flow in flows} if given else {}
    if unknown := [flow for flow in of if flow not in flows]:
        raise InputError(f"flow `{unknown[0]}` not found; this scenario has {', '.join(f'`{flow}`' for flow in flows)}")
    return {flow: (made.__name__, made) for flow, made in of.items()}


def run(
    scenario: Scenario | str | PathLike[str],
    seeds: int = 1,
    *,
    record: str | list[str] | None = None,
    folder: str | PathLike[str] | None = None,
    jobs: int = 0,
    progress: Progress = None,
    controllers: _Controllers = None,
) -> Results:
    """Makes runs of a scenario with consecutive seeds, from the scenario's seed on.

    Ctrl-C stops it at once. Other Python threads keep running.

    Args:
        scenario: a scenario, or the path of its file.
        seeds: number of runs.
        record: time series to record instead of the scenario's ``record.series``, such as ``"cwnd"`` or ``["cwnd", "srtt"]``.
        folder: stores finished runs here, with series and captures as files. Runs that it already has are not repeated.
        jobs: number of parallel runs; 0 means one per processor. It does not change any result.
        progress: a progress bar [default: in a terminal or notebook]; see ``_progress.Progress``.
        controllers: a Python class that replaces the algorithms of all flows, or a dictionary of classes by flow name. The stack provides
            the services of the flow's algorithm in the scenario, such as delivery-rate samples: give the flow ``bbr`` for these samples.
            Such runs are made one after the other, are about fifty times slower, and cannot be stored in a folder.

    Raises:
        InputError: the scenario is invalid, or a controller returns an invalid value.
        RunError: the folder cannot be written.
    """
    scenario = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
    if record is not None:
        names = [record] if isinstance(record, str) else record
        scenario = scenario.set("record.series", [_native.series_name(name) for name in names])
    command = f"windlass.run({scenario._called()}, seeds={seeds})"
    where = None if folder is None else fspath(folder)
    classes = _classes(controllers, scenario.flows)
    if classes and folder is not None:
        raise InputError("runs of an algorithm in Python are not kept in a folder, because a folder cannot distinguish its versions")
    with told(progress, scenario.name) as tell:
        made = _native.run(scenario._native(), seeds, where, jobs, command, tell, classes)
    return Results(made, scenario, controllers)


def load(folder: str | PathLike[str]) -> Results:
    """The runs in a folder of results: of a run, a sweep, a comparison or a paper, finished or in progress.

    Each axis of a sweep is a column, with numbers if its labels are quantities.
    """
    return Results(_native.load(fspath(folder)))
