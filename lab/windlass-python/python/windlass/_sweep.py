"""Sweeps, in this process and on other engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from . import _native
from ._classes import named
from ._errors import InputError
from ._executors import engine
from ._page import Page
from ._progress import Progress, told
from ._results import Results
from ._scenario import Scenario
from ._table import Table

work_on = _native.work_on
"""Makes the run of one order on one processor, and returns the answer. Every executor calls this function."""


class SweepResults(Results):
    """Results of a sweep: the runs, and means with 95 % intervals at each point."""

    def __init__(self, native: _native.Records, points: _native.Table, report: str | None) -> None:
        super().__init__(native)
        self.points = Table(points)
        """One row per point and metric: mean, ``ci95_low`` and ``ci95_high`` in the metric's unit. Each axis is a column, with numbers if
        its labels are quantities."""
        self.report = report
        """Path of the report as one HTML file, if the sweep has a folder."""

    def page(self) -> Page:
        """The report of a sweep with a folder."""
        if self.report is None:
            raise InputError("a report needs a folder of the sweep; call `run(folder)`")
        return Page(Path(self.report).read_text(encoding="utf-8"))

    def plot(  # type: ignore[override]
        self, metric: str | None = None, *, kind: str | None = None, x: str | None = None, ax: Any = None, **given: Any
    ) -> Any:
        """Draws means with 95 % intervals over an axis, with a line for each combination of the other axes. Returns the Matplotlib axes.

        ``given`` are further arguments of :func:`figure`, such as ``width`` and ``out``.

        Args:
            metric: a metric of the sweep [default: the first].
            kind: ``line``, ``bar``, ``box``, ``cdf`` or ``heat`` [default: ``line`` over numbers, otherwise ``bar``].
            x: name of a column of :attr:`points` [default: the axis with the most numbers].
            ax: axes to draw into [default: new axes].
        """
        from ._figure import figure

        return figure(self, kind, metric=metric, x=x, ax=ax, **given)

    def _source(self) -> Any:
        from ._figure_data import Source

        return Source(self, list(self.points.rows()))

    def __repr__(self) -> str:
        return f"<{len(self)} runs at {len(set(self.points['point']))} points>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>{self.points._repr_html_()}"


class Sweep:
    """A scenario at every combination of values, with the necessary number of seeds.

    Args:
        scenario: a scenario, or the path of its file.
        axes: the values to vary: ``{"link.0.delay": ["5ms", "20ms"], "flow.*.algorithm": ["reno", "cubic"]}``. A range is text:
            ``"1Mbps..16Mbps times 2"``. Keys joined by ``+`` change together; ``NAME:`` in front names an axis. A class is a value of
            ``"flow.*.algorithm"``, and has its name in the tables.
        seeds: runs per point [default: 10]. Every point has the same seeds, so that runs are paired.
        until: adds runs until the interval of a mean is this narrow: ``"flow.*.goodput_bps ±2%"``, or several.
        min_seeds, max_seeds: bounds of the number of seeds for ``until``.
        metrics: metrics in the tables [default: ``"flow.*.goodput_bps"``].
        warm_up: beginning of each flow that ``steady_goodput_bps`` omits: ``"10s"``, or ``"mser"``.

    Raises:
        InputError: the input is invalid. The error has the position.
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
        """Values that are probably mistakes at some point, a sentence each."""
        return self._open(None).warnings()

    def run(
        self,
        folder: str | PathLike[str] | None = None,
        *,
        executor: Any = None,
        jobs: int = 0,
        progress: Progress = None,
    ) -> SweepResults:
        """Makes the missing runs and computes the tables. The tables do not depend on the executor or on the order of the runs.

        Args:
            folder: stores every finished run here, with tables and a report. An interrupted sweep resumes.
            executor: makes the runs elsewhere: a ``concurrent.futures.Executor``, a ``dask.distributed.Client``, or the module ``ray``.
                Workers need only this package and the modules of the classes, and no shared disk. Dask and Ray repeat a run that is lost
                with a worker.
            jobs: number of parallel runs without an executor; 0 means one per processor.
            progress: a progress bar [default: in a terminal or notebook].
        """
        sweep = self._open(None if folder is None else fspath(folder))
        with told(progress, self._scenario.name) as tell:
            sweep.run(jobs, tell, engine(executor))
        runs, points, report = sweep.conclude()
        return SweepResults(runs, points, report)


def _axis(key: str, values: Sequence[Any] | str) -> str:
    """An axis in the notation of the command line."""
    texts = [values] if isinstance(values, str) else [_text(key, value) for value in values]
    return f"{key}={','.join(texts)}"


def _text(key: str, value: Any) -> str:
    return named(value) if isinstance(value, type) else _native.value_text(key, value)
