"""Comparisons of algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from os import PathLike, fspath
from typing import Any

from . import _native
from ._page import Page
from ._progress import Progress, told
from ._results import Results
from ._scenario import Scenario
from ._table import Table


class Comparison(Results):
    """Which algorithm does best, and who harms whom."""

    def __init__(self, native: _native.Records, tables: list[tuple[str, _native.Table]], text: str, page: str) -> None:
        super().__init__(native)
        found = {name: Table(table) for name, table in tables}
        self.ranking = found["ranking"]
        """One row a measure and algorithm, with differences paired by seed and corrected for many comparisons."""
        self.harm = found.get("harm")
        """One row a measure and pair of algorithms; ``None`` if it was not asked for."""
        self._text, self._page = text, page

    def page(self) -> Page:
        """The report, with every pair of algorithms."""
        return Page(self._page)

    def plot(self, measure: str | None = None, *, ax: Any = None) -> Any:  # type: ignore[override]
        """Draws each algorithm's mean with its 95 % interval, best first, and returns the axes.

        Args:
            measure: a word of the ranking's column ``measure``; the one that the ranking goes by unless told.
            ax: axes to draw into; new ones unless told.
        """
        from ._plot import draw_ranking

        return draw_ranking(self.ranking, measure, ax)

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self._text)}</pre>"


def compare(
    scenario: Scenario | str | PathLike[str],
    algorithms: Sequence[str],
    seeds: int = 10,
    *,
    flows: Sequence[str] = (),
    baseline: str | None = None,
    jitter: str | None = None,
    metric: str = "goodput",
    harm: bool = True,
    folder: str | PathLike[str] | None = None,
    jobs: int = 0,
    progress: Progress = None,
) -> Comparison:
    """Compares algorithms on a scenario: over the same network with the same seeds.

    Args:
        scenario: a scenario, or the path of its file.
        algorithms: at least two, such as ``["cubic", "bbr", "newreno:increase=per-byte"]``.
        seeds: replications, paired by seed.
        flows: names of the flows that run them; all that can unless told.
        baseline: the algorithm that the others are held against; the best unless told.
        jitter: draws each flow's start from this time, such as ``"1s"``.
        metric: what the ranking goes by: ``goodput``, ``queueing-delay``, ``loss``, ``retransmissions``, ``jain``, ``completion``,
            ``late``, ``latency``, ``exchange`` or ``battery-life``.
        harm: whether to find out who harms whom (Ware and others, HotNets 2019), which takes many more runs.
        folder: keeps finished runs here; what is there already is not made again.
        jobs: runs side by side; 0 takes one for each processor.
        progress: a bar where a person watches unless told.
    """
    scenario = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
    command = f"windlass.compare({scenario._called()}, {list(algorithms)!r}, seeds={seeds})"
    with told(progress, scenario.name) as tell:
        made = _native.compare(
            scenario._native(),
            list(algorithms),
            seeds,
            list(flows),
            baseline,
            jitter,
            metric,
            harm,
            None if folder is None else fspath(folder),
            jobs,
            command,
            tell,
        )
    return Comparison(*made)
