"""Papers and verdicts on their claims."""

from __future__ import annotations

from html import escape
from os import PathLike, fspath

from . import _native
from ._progress import Progress, told
from ._results import Results, load
from ._table import Table


class Reproduction:
    """A paper's claims with verdicts."""

    def __init__(self, verdicts: _native.Table, headline: str, report: str, failed: list[str]) -> None:
        self.verdicts = Table(verdicts)
        """One row a claim: the paper's value, ours with its 95 % interval, the verdict and why."""
        self.headline = headline
        """How many claims came to which verdict."""
        self.report = fspath(report)
        """Path of the report as one HTML file, which opens without a network."""
        self.failed = failed
        """Runs that gave no result, with the reason."""

    @property
    def runs(self) -> Results:
        """Every run behind the verdicts."""
        return load(self.report.removesuffix("report.html"))

    def __repr__(self) -> str:
        return self.headline

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.headline)}</p>{self.verdicts._repr_html_()}"


def papers() -> Table:
    """Every paper that Windlass brings."""
    return Table(_native.papers())


def reproduce(
    paper: str | PathLike[str],
    *,
    budget: str | None = None,
    seeds: int | None = None,
    folder: str | PathLike[str] = "results",
    jobs: int = 0,
    progress: Progress = None,
) -> Reproduction:
    """Runs a paper's experiments and judges its claims. What an earlier call has made is not made again.

    Args:
        paper: one of :func:`papers`, or the folder of a paper.
        budget: time that the runs may take about on two processors, such as ``"2min"``; without it as many as the paper asks for.
        seeds: replications of each point, in place of the paper's own number.
        folder: where the paper gets a folder of its own.
        jobs: runs side by side; 0 takes one for each processor.
        progress: a bar where a person watches unless told.
    """
    given = "".join(f", {name}={value!r}" for name, value in (("budget", budget), ("seeds", seeds)) if value is not None)
    command = f"windlass.reproduce({fspath(paper)!r}{given})"
    with told(progress, fspath(paper)) as tell:
        return Reproduction(*_native.reproduce(fspath(paper), budget, seeds, fspath(folder), jobs, command, tell))
