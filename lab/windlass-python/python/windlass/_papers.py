"""Papers and verdicts on their claims; assessments and scorecards."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from . import _native
from ._classes import named
from ._controllers import Controller
from ._executors import engine
from ._page import Page
from ._progress import Progress, told
from ._results import Results, load
from ._table import Table


class Reproduction:
    """A paper's claims with verdicts."""

    def __init__(self, verdicts: _native.Table, headline: str, report: str, failed: list[str]) -> None:
        self.verdicts = Table(verdicts)
        """One row per claim: the published value, the measured value with its 95 % interval, the verdict and its reason."""
        self.headline = headline
        """Number of claims with each verdict."""
        self.report = fspath(report)
        """Path of the report as one HTML file, which opens without a network."""
        self.failed = failed
        """Runs without a result, with the reason."""

    def page(self) -> Page:
        """The report."""
        return Page(Path(self.report).read_text(encoding="utf-8"))

    @property
    def runs(self) -> Results:
        """Every run that the verdicts use."""
        return load(self.report.removesuffix("report.html"))

    def __repr__(self) -> str:
        return self.headline

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.headline)}</p>{self.verdicts._repr_html_()}"


def papers() -> Table:
    """Every built-in paper."""
    return Table(_native.papers())


def reproduce(
    paper: str | PathLike[str],
    *,
    budget: str | None = None,
    seeds: int | None = None,
    folder: str | PathLike[str] = "results",
    jobs: int = 0,
    executor: Any = None,
    progress: Progress = None,
) -> Reproduction:
    """Runs a paper's experiments and judges its claims. Runs of an earlier call are not repeated.

    Args:
        paper: one of :func:`papers`, or the folder of a paper.
        budget: approximate time of the runs on two processors, such as ``"2min"`` [default: all runs that the paper defines].
        seeds: replications of each point, instead of the paper's number.
        folder: folder in which the paper gets its own folder.
        jobs: number of parallel runs; 0 means one per processor.
        executor: makes the runs elsewhere: a ``concurrent.futures.Executor``, a ``dask.distributed.Client``, or the module ``ray``.
            Workers need only this package and the modules of the classes, and no shared disk.
        progress: a progress bar [default: in a terminal or notebook].
    """
    given = "".join(f", {name}={value!r}" for name, value in (("budget", budget), ("seeds", seeds)) if value is not None)
    command = f"windlass.reproduce({fspath(paper)!r}{given})"
    with told(progress, fspath(paper)) as tell:
        return Reproduction(*_native.reproduce(fspath(paper), budget, seeds, fspath(folder), jobs, command, tell, engine(executor)))


class Assessment:
    """Results of an algorithm in an assessment."""

    def __init__(self, folder: str, failed: list[str]) -> None:
        self.folder = fspath(folder)
        """Folder of the scorecard, as ``scorecard.html``, ``.md`` and ``.json``, and of the long ``report.html``."""
        self.failed = failed
        """Runs without a result, with the reason."""
        self.scorecard: dict[str, Any] = json.loads(self._file("scorecard.json"))
        """Families of criteria with their grades, bounds and worst networks."""

    def page(self) -> Page:
        """The scorecard on one page."""
        return Page(self._file("scorecard.html"))

    def report(self) -> Page:
        """The long report: every network, with its bounds and the command that reproduces it."""
        return Page(self._file("report.html"))

    def _file(self, name: str) -> str:
        return (Path(self.folder) / name).read_text(encoding="utf-8")

    def __repr__(self) -> str:
        return self._file("scorecard.md")

    def _repr_html_(self) -> str:
        return self.page()._repr_html_()


def assess(
    algorithm: str | type[Controller],
    *,
    budget: str = "2min",
    seeds: int | None = None,
    only: Sequence[str] = (),
    folder: str | PathLike[str] = "results",
    jobs: int = 0,
    executor: Any = None,
    progress: Progress = None,
) -> Assessment:
    """Assesses an algorithm by the criteria of RFC 9743 for a new congestion control. Runs of an earlier call are not repeated.

    Args:
        algorithm: such as ``"cubic"`` or ``"newreno:increase=per-byte"``, or a class.
        budget: approximate time of the runs on two processors; ``"30min"`` is enough for all runs of the assessment.
        seeds: replications of each network, instead of the assessment's number.
        only: names of the families of criteria to assess [default: all].
        folder: folder in which the assessment gets its own folder.
        jobs: number of parallel runs; 0 means one per processor.
        executor: makes the runs elsewhere: a ``concurrent.futures.Executor``, a ``dask.distributed.Client``, or the module ``ray``.
            Workers need only this package and the modules of the classes, and no shared disk.
        progress: a progress bar [default: in a terminal or notebook].
    """
    name = named(algorithm)
    command = f"windlass.assess({name!r}, budget={budget!r})"
    with told(progress, name) as tell:
        return Assessment(*_native.assess(name, budget, seeds, list(only), fspath(folder), jobs, command, tell, engine(executor)))
