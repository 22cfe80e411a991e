"""Papers and verdicts on their claims; examinations and scorecards."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from uuid import uuid4

from . import _native
from ._controllers import Controller
from ._page import Page
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

    def page(self) -> Page:
        """The report."""
        return Page(Path(self.report).read_text(encoding="utf-8"))

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


class Assessment:
    """How an algorithm stands in an examination."""

    def __init__(self, folder: str, failed: list[str]) -> None:
        self.folder = fspath(folder)
        """Where the scorecard lies, as ``scorecard.html``, ``.md`` and ``.json``, with the long ``report.html`` beside it."""
        self.failed = failed
        """Runs that gave no result, with the reason."""
        self.scorecard: dict[str, Any] = json.loads(self._file("scorecard.json"))
        """Families of criteria with their grades, bounds and worst networks."""

    def page(self) -> Page:
        """The scorecard on one page."""
        return Page(self._file("scorecard.html"))

    def report(self) -> Page:
        """The long report: every network, with its bounds and the command that shows it."""
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
    in_place_of: str = "newreno",
    budget: str = "2min",
    seeds: int | None = None,
    only: Sequence[str] = (),
    folder: str | PathLike[str] = "results",
    jobs: int = 0,
    progress: Progress = None,
) -> Assessment:
    """Puts an algorithm through what RFC 9743 asks of a new congestion control. What an earlier call has made is not made again.

    Args:
        algorithm: such as ``"cubic"`` or ``"newreno:increase=per-byte"``, or a class in Python.
        in_place_of: the algorithm in whose place a class runs. What the stack does for an algorithm, such as measuring delivery rates,
            it does as for this one: name ``"bbr3"`` for rate samples.
        budget: time that the runs may take about on two processors; ``"30min"`` makes all that the examination asks for.
        seeds: replications of each network, in place of the examination's own number.
        only: names of the families of criteria to look at; all unless told.
        folder: where the examination gets a folder of its own.
        jobs: runs side by side; 0 takes one for each processor.
        progress: a bar where a person watches unless told.
    """
    if isinstance(algorithm, str):
        seat, given, name, called = algorithm, None, algorithm, repr(algorithm)
    else:
        seat, name = in_place_of, f"{algorithm.__name__}-{_version(algorithm)}"
        given, called = (name, algorithm), f"{algorithm.__name__}, in_place_of={in_place_of!r}"
    command = f"windlass.assess({called}, budget={budget!r})"
    with told(progress, name) as tell:
        return Assessment(*_native.assess(seat, given, budget, seeds, list(only), fspath(folder), jobs, command, tell))


def _version(algorithm: type[Controller]) -> str:
    """Tells the runs of a class from those of its next version: by its source and that of the classes that it extends."""
    own = [c for c in algorithm.__mro__ if c is not object and not c.__module__.startswith("windlass.")]
    try:
        source = "".join(inspect.getsource(c) for c in own)
    except (OSError, TypeError):
        # Typed at a prompt that keeps no source: each time another.
        source = str(uuid4())
    return sha256(source.encode()).hexdigest()[:8]
