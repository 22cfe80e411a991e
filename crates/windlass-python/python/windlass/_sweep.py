"""Sweeps, here and on the engines that people have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from . import _native
from ._errors import InputError
from ._page import Page
from ._progress import Progress, told
from ._results import Results
from ._scenario import Scenario
from ._table import Table

work_on = _native.work_on
"""Makes the run of one message of a sweep, on one processor, and returns what came of it: what every executor calls."""


class SweepResults(Results):
    """What a sweep came to: the runs, and means with 95 % intervals at each point."""

    def __init__(self, native: _native.Records, points: _native.Table, report: str | None) -> None:
        super().__init__(native)
        self.points = Table(points)
        """One row a point and metric: mean, ``ci95_low`` and ``ci95_high`` in the metric's unit; axes are columns of numbers where
        their labels are quantities."""
        self.report = report
        """Path of the report as one HTML file, where the sweep has a folder."""

    def page(self) -> Page:
        """The report of a sweep that has a folder."""
        if self.report is None:
            raise InputError("a report is written into the sweep's folder: `run(folder)`")
        return Page(Path(self.report).read_text(encoding="utf-8"))

    def plot(  # type: ignore[override]
        self, metric: str | None = None, *, x: str | None = None, ax: Any = None
    ) -> Any:
        """Draws means with 95 % intervals over an axis, a line for each combination of the others, and returns the axes.

        Args:
            metric: one of the sweep's; the first unless told.
            x: name of a column of :attr:`points`; the axis with the most numbers unless told.
            ax: axes to draw into; new ones unless told.
        """
        from ._plot import draw_points

        return draw_points(self.points, metric, x, ax)

    def __repr__(self) -> str:
        return f"<{len(self)} runs at {len(set(self.points['point']))} points>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>{self.points._repr_html_()}"


class Sweep:
    """A scenario at every combination of values, as many seeds as it takes.

    Args:
        scenario: a scenario, or the path of its file.
        axes: what varies: ``{"link.0.delay": ["5ms", "20ms"], "flow.*.algorithm": ["reno", "cubic"]}``. A range is text:
            ``"1Mbps..16Mbps times 2"``. Keys joined by ``+`` move together; ``NAME:`` in front names an axis.
        seeds: runs of each point; 10 unless told. Every point has the same seeds, so that runs pair up.
        until: adds runs until a mean is as narrow as this: ``"flow.*.goodput_bps ±2%"``, or several.
        min_seeds, max_seeds: bounds for ``until``.
        metrics: what to tabulate; ``"flow.*.goodput_bps"`` unless told.
        warm_up: leaves out each flow's beginning in ``steady_goodput_bps``: ``"10s"``, or ``"mser"``.

    Raises:
        InputError: what is not right, and where.
    """

    def __init__(
        self,
        scenario: Scenario | str | PathLike[str],
        axes: Mapping[str, Sequence[Any] | str] | None = None,
        *,
        seeds: int | None = None,
        until: str | Sequence[str] = (),
        min_seeds: int | None = None,
        max_seeds: int | None = None,
        metrics: str | Sequence[str] = (),
        warm_up: str | None = None,
    ) -> None:
        self._scenario = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
        self._axes = [_axis(key, values) for key, values in (axes or {}).items()]
        self._seeds, self._bounds, self._warm_up = seeds, (min_seeds, max_seeds), warm_up
        self._until = [until] if isinstance(until, str) else list(until)
        self._metrics = [metrics] if isinstance(metrics, str) else list(metrics)
        self._open(None)

    def _open(self, folder: str | None) -> _native.Sweep:
        given = {"seeds": self._seeds, "until": self._until, "metrics": self._metrics, "warm_up": self._warm_up}
        told = "".join(f", {name}={value!r}" for name, value in given.items() if value)
        command = f"windlass.Sweep({self._scenario._called()}, {self._axes!r}{told}).run()"
        return _native.Sweep(
            self._scenario._native(),
            self._axes,
            self._seeds,
            self._until,
            *self._bounds,
            self._metrics,
            self._warm_up,
            folder,
            command,
        )

    @property
    def points(self) -> list[str]:
        """Identifiers of the points, in order."""
        return self._open(None).points

    def warnings(self) -> list[str]:
        """What is probably not meant at some point, a sentence each."""
        return self._open(None).warnings()

    def run(
        self,
        folder: str | PathLike[str] | None = None,
        *,
        executor: Any = None,
        jobs: int = 0,
        progress: Progress = None,
    ) -> SweepResults:
        """Makes the runs that are missing, and sums all up. The tables are the same however and wherever the runs were made.

        Args:
            folder: keeps every finished run here, with tables and a report; a sweep that was interrupted goes on where it stopped.
            executor: makes the runs elsewhere: a ``concurrent.futures.Executor``, a ``dask.distributed.Client``, or the module ``ray``.
                Workers need this package and nothing else: no disk is shared. A run that a worker took with it is made again.
            jobs: without an executor: runs side by side; 0 takes one for each processor.
            progress: a bar where a person watches unless told.
        """
        sweep = self._open(None if folder is None else fspath(folder))
        with told(progress, self._scenario.name) as tell:
            if executor is None:
                sweep.run(jobs, tell)
            else:
                from ._executors import work

                work(sweep, executor, tell)
        runs, points, report = sweep.conclude()
        return SweepResults(runs, points, report)


def _axis(key: str, values: Sequence[Any] | str) -> str:
    """An axis as the command line has it."""
    texts = [values] if isinstance(values, str) else [_native.value_text(key, value) for value in values]
    return f"{key}={','.join(texts)}"
