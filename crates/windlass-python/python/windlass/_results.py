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
    """Finished runs as tables: a row a run, a flow, a link direction. Made by :func:`run` and :func:`load`.

    ``docs/src/reference/results.md`` explains every column; ``Table.meanings`` and ``Table.units`` tell them here.
    """

    def __init__(self, native: _native.Records, scenario: Scenario | None = None, controllers: _Controllers = None) -> None:
        self._native = native
        self._scenario, self._controllers = scenario, controllers

    def __len__(self) -> int:
        """Number of runs."""
        return len(self._native)

    @cached_property
    def runs(self) -> Table:
        """One row a run."""
        return Table(self._native.table("runs"))

    @cached_property
    def flows(self) -> Table:
        """One row a run and flow: goodput (bit/s), round-trip times (ms), losses, retransmissions."""
        return Table(self._native.table("summary"))

    @cached_property
    def links(self) -> Table:
        """One row a run and link direction: utilisation, queueing, drops."""
        return Table(self._native.table("links"))

    @cached_property
    def cells(self) -> Table:
        """One row a run and Wi-Fi cell."""
        return Table(self._native.table("cells"))

    @cached_property
    def stations(self) -> Table:
        """One row a run and station of a Wi-Fi cell: airtime (s), energy (J)."""
        return Table(self._native.table("stations"))

    @cached_property
    def multipath(self) -> Table:
        """One row a run and multipath flow."""
        return Table(self._native.table("multipath"))

    @cached_property
    def subflows(self) -> Table:
        """One row a run and subflow of a multipath flow."""
        return Table(self._native.table("subflows"))

    @cached_property
    def series(self) -> Table:
        """Time series that the scenario records, one row an instant and flow; a value holds until the next.

        A folder has them in files of their own: ``polars.scan_parquet("FOLDER/series/*/*/*.parquet")``.
        """
        return Table(self._native.series())

    @property
    def failed(self) -> list[str]:
        """Runs that gave no result, with the reason."""
        return self._native.failed

    def to_pandas(self) -> pandas.DataFrame:
        """The flows as a pandas frame."""
        return self.flows.to_pandas()

    def to_csv(self, table: str = "summary") -> str:
        """A table as ``windlass run --csv`` prints it, byte for byte."""
        return self._native.csv(table)

    def plot(self, series: str = "cwnd", *, seed: int | None = None, flow: str | None = None, ax: Any = None) -> Any:
        """Draws a time series of a run with Matplotlib, and returns the axes.

        A run that did not record the series is made once more to do so; it is the same run.

        Args:
            series: ``cwnd``, ``srtt``, ``in_flight`` and so on: the name of a series, or its beginning.
            seed: seed of the run; the first unless told.
            flow: one flow alone; all unless told.
            ax: axes to draw into; new ones unless told.
        """
        from ._plot import draw_series

        name = _native.series_name(series)
        return draw_series(self._traced(name, seed), name, flow, ax)

    def page(self) -> Page:
        """The first run over time, with its losses and why the window fell: the page that ``windlass run --out`` writes.

        A run without a recording is made once more for it; it is the same run.
        """
        if self._scenario is None or self._controllers is not None:
            raise InputError("a page is of the runs of one scenario with the algorithms that it names")
        return Page(self._native.page())

    def _traced(self, name: str, seed: int | None) -> Table:
        if self._scenario is None:
            raise InputError("these runs are of no single scenario; plot a time series of one by `run(scenario).plot(...)`")
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
    """Name and class of what runs on each flow."""
    of = given if isinstance(given, Mapping) else {flow: given for flow in flows} if given else {}
    if unknown := [flow for flow in of if flow not in flows]:
        raise InputError(f"there is no flow `{unknown[0]}`; there are {', '.join(f'`{flow}`' for flow in flows)}")
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
    """Makes runs of a scenario, with seeds that follow each other from the scenario's own.

    Ctrl-C stops it at once; other threads of Python go on meanwhile.

    Args:
        scenario: a scenario, or the path of its file.
        seeds: number of runs.
        record: time series to record besides those of the scenario, such as ``"cwnd"`` or ``["cwnd", "srtt"]``.
        folder: keeps finished runs here, with series and captures as files; what is there already is not made again.
        jobs: runs side by side; 0 takes one for each processor. It changes no byte of any result.
        progress: a bar where a person watches unless told; see ``_progress.Progress``.
        controllers: a class in Python that runs in place of the flows' algorithms, or a class for each of some flows by name. What the
            stack does for an algorithm, such as measuring delivery rates, it does as for the one that the flow has in the scenario:
            give it ``bbr`` for rate samples. Such runs go one after the other, are some hundred times slower, and cannot be kept in a folder.

    Raises:
        InputError: the scenario is not right, or a controller answers what cannot be.
        RunError: a folder cannot be written.
    """
    scenario = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
    if record is not None:
        names = [record] if isinstance(record, str) else record
        scenario = scenario.set("record.series", [_native.series_name(name) for name in names])
    command = f"windlass.run({scenario._called()}, seeds={seeds})"
    where = None if folder is None else fspath(folder)
    classes = _classes(controllers, scenario.flows)
    if classes and folder is not None:
        raise InputError("runs of an algorithm in Python are not kept in a folder: nothing there could tell its next version from this one")
    with told(progress, scenario.name) as tell:
        made = _native.run(scenario._native(), seeds, where, jobs, command, tell, classes)
    return Results(made, scenario, controllers)


def load(folder: str | PathLike[str]) -> Results:
    """The runs that a folder of results holds, be it of a run, a sweep, a comparison or a paper, finished or at work.

    Axes of a sweep are columns of their own, numbers where their labels are quantities.
    """
    return Results(_native.load(fspath(folder)))
