"""Runs and their tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from html import escape
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _native
from ._classes import named
from ._controllers import Controller
from ._errors import InputError
from ._executors import engine
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

    def __init__(self, native: _native.Records, scenario: Scenario | None = None) -> None:
        self._native = native
        self._scenario = scenario

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

    def _source(self) -> Any:
        from ._figure_data import Source

        return Source(self)

    def plot(
        self, series: str = "cwnd", *, kind: str | None = None, seed: int | None = None, flow: str | None = None, ax: Any = None, **given: Any
    ) -> Any:
        """Draws a time series of a run with Matplotlib, and returns the axes. With ``kind="cdf"`` or ``"box"``: the values of all runs.

        If a run did not record the series, the same run is repeated with the recording. ``given`` are arguments of :func:`figure`, such as
        ``width`` and ``out``. With a kind, ``series`` is the metric, such as ``"completion_s"`` or ``"rtt_ns"``.

        Args:
            series: name of a series, or its beginning, such as ``cwnd``, ``srtt`` or ``in_flight``.
            seed: seed of the run [default: the first].
            flow: name of a single flow to draw [default: all].
            kind: ``cdf`` or ``box`` [default: the time series].
            ax: axes to draw into [default: new axes].
        """
        if kind is not None:
            from ._figure import figure

            return figure(self, kind, metric=None if series == "cwnd" else series, ax=ax, **given)
        from ._figure import track

        name = _native.series_name(series)
        return track(self._traced(name, seed), name, flow=flow, ax=ax, **given)

    def page(self) -> Page:
        """The first run over time, with its losses and the causes of cwnd reductions: the page that ``windlass run --out`` writes.

        If a run has no recording, the same run is repeated with the recording.
        """
        if self._scenario is None:
            raise InputError("a page needs runs of a single scenario")
        return Page(self._native.page())

    def _traced(self, name: str, seed: int | None) -> Table:
        if self._scenario is None:
            raise InputError("these runs belong to several scenarios; plot a time series of one scenario by `run(scenario).plot(...)`")
        seed = self._scenario.seed if seed is None else seed
        if len(self.series) and any(s == seed and x is not None for s, x in zip(self.series["seed"], self.series[name], strict=True)):
            return Table(self._native.series_of(seed))
        again = self._scenario.set("seed", seed).set("record.series", [name])
        return run(again, progress=False).series

    def __repr__(self) -> str:
        return self._native.overview() or f"<{len(self)} runs>"

    def _repr_html_(self) -> str:
        overview = self._native.overview()
        return f"<pre>{escape(overview)}</pre>" if overview else self.flows._repr_html_()


def _with_classes(scenario: Scenario, given: _Controllers) -> Scenario:
    """The scenario whose flows run these classes. A class without a declaration gets the services of the flow's algorithm."""
    if given is None:
        return scenario
    algorithms = dict(zip(scenario.flows, scenario._native().algorithms, strict=True))
    of = given if isinstance(given, Mapping) else {flow: given for flow, algorithm in algorithms.items() if algorithm != "none"}
    if unknown := [flow for flow in of if flow not in algorithms]:
        raise InputError(f"flow `{unknown[0]}` not found; this scenario has {', '.join(f'`{flow}`' for flow in algorithms)}")
    return scenario._with_algorithms({flow: _seated(named(made), made, algorithms[flow]) for flow, made in of.items()})


def _seated(name: str, made: type[Controller], algorithm: str) -> str:
    if made.like is not None or algorithm == "none" or algorithm.startswith("linux:"):
        return name
    place, _, version = name.partition("@")
    return f"{place}/{algorithm}@{version}"


def run(
    scenario: Scenario | str | PathLike[str],
    seeds: int = 1,
    *,
    record: str | list[str] | None = None,
    folder: str | PathLike[str] | None = None,
    jobs: int = 0,
    progress: Progress = None,
    controllers: _Controllers = None,
    executor: Any = None,
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
            the services of the class's ``like``, or of the flow's algorithm in the scenario. Such runs are about fifty times slower, and a
            process makes one at a time: give an executor for more.
        executor: makes the runs elsewhere: a ``concurrent.futures.Executor``, a ``dask.distributed.Client``, or the module ``ray``.
            Workers need only this package and the modules of the classes, and no shared disk.

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
    scenario = _with_classes(scenario, controllers)
    with told(progress, scenario.name) as tell:
        made = _native.run(scenario._native(), seeds, where, jobs, command, tell, engine(executor))
    return Results(made, scenario)


def load(folder: str | PathLike[str]) -> Results:
    """The runs in a folder of results: of a run, a sweep, a comparison or a paper, finished or in progress.

    Each axis of a sweep is a column, with numbers if its labels are quantities.
    """
    return Results(_native.load(fspath(folder)))
