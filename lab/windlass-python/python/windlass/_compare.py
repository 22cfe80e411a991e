"""Comparisons of algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from os import PathLike, fspath
from typing import Any

from . import _native
from ._classes import named
from ._controllers import Controller
from ._executors import engine
from ._page import Page
from ._progress import Progress, told
from ._results import Results
from ._scenario import Scenario
from ._table import Table


class Comparison(Results):
    """Results of a comparison: the ranking of the algorithms, and the harm that they do to each other."""

    def __init__(self, native: _native.Records, tables: list[tuple[str, _native.Table]], text: str, page: str) -> None:
        super().__init__(native)
        found = {name: Table(table) for name, table in tables}
        self.ranking = found["ranking"]
        """One row per measure and algorithm, with differences paired by seed and corrected for multiple comparisons."""
        self.harm = found.get("harm")
        """One row per measure and pair of algorithms; ``None`` if ``harm`` is false."""
        self._text, self._page = text, page

    def page(self) -> Page:
        """The report, with every pair of algorithms."""
        return Page(self._page)

    def plot(self, measure: str | None = None, *, kind: str = "bar", ax: Any = None, **given: Any) -> Any:  # type: ignore[override]
        """Draws each algorithm's mean with its 95 % interval, and returns the axes. ``kind="heat"`` is the matrix of harm.

        ``given`` are further arguments of :func:`figure`, such as ``width`` and ``out``.

        Args:
            measure: a value of the ranking's column ``measure`` [default: the measure of the ranking].
            ax: axes to draw into [default: new axes].
        """
        from ._figure import figure

        return figure(self, kind, metric=measure, ax=ax, **given)

    def _source(self) -> Any:
        from ._figure_data import Source

        return Source(self, ranking=list(self.ranking.rows()), harm=list(self.harm.rows()) if self.harm else [])

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self._text)}</pre>"


def compare(
    scenario: Scenario | str | PathLike[str],
    algorithms: Sequence[str | type[Controller]],
    seeds: int = 10,
    *,
    flows: Sequence[str] = (),
    baseline: str | type[Controller] | None = None,
    jitter: str | None = None,
    metric: str | None = None,
    harm: bool = True,
    folder: str | PathLike[str] | None = None,
    jobs: int = 0,
    executor: Any = None,
    progress: Progress = None,
) -> Comparison:
    """Compares algorithms on a scenario, with the same network and the same seeds.

    Args:
        scenario: a scenario, or the path of its file.
        algorithms: at least two, such as ``["cubic", "bbr", "newreno:increase=per-byte", Mine]``. A class has its name in the tables.
        seeds: replications, paired by seed.
        flows: names of the flows that run the algorithms [default: all suitable flows].
        baseline: the algorithm with which the others are compared [default: the best].
        jitter: delays each flow's start by a random time up to this value, such as ``"1s"``.
        metric: the metric of the ranking: ``goodput``, ``queueing-delay``, ``loss``, ``retransmissions``, ``jain``, ``completion``,
            ``late``, ``latency``, ``exchange`` or ``battery-life`` [default: ``latency`` if all compared flows have messages
            with a deadline, ``exchange`` if all are CoAP, otherwise ``goodput``].
        harm: measure the harm of each algorithm to the others (Ware and others, HotNets 2019), which needs many more runs.
        folder: stores finished runs here. Runs that it already has are not repeated.
        jobs: number of parallel runs; 0 means one per processor.
        executor: makes the runs elsewhere: a ``concurrent.futures.Executor``, a ``dask.distributed.Client``, or the module ``ray``.
            Workers need only this package and the modules of the classes, and no shared disk.
        progress: a progress bar [default: in a terminal or notebook].
    """
    scenario = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
    names = [named(a) for a in algorithms]
    command = f"windlass.compare({scenario._called()}, {names!r}, seeds={seeds})"
    with told(progress, scenario.name) as tell:
        made = _native.compare(
            scenario._native(),
            names,
            seeds,
            list(flows),
            baseline if baseline is None or isinstance(baseline, str) else baseline.__name__,
            jitter,
            metric,
            harm,
            None if folder is None else fspath(folder),
            jobs,
            command,
            tell,
            engine(executor),
        )
    return Comparison(*made)
