"""Advice on an algorithm, and the search for conditions that harm an algorithm."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from os import PathLike
from typing import Any

from . import _native
from ._classes import named
from ._controllers import Controller
from ._errors import InputError
from ._executors import engine
from ._progress import Progress, told
from ._scenario import Scenario

_UNCERTAIN = {"rate": 1.5, "delay": 1.5, "loss": 2.0}


class Advice:
    """The best algorithm for a network that is not known exactly."""

    def __init__(self, text: str, details: str) -> None:
        self._text = text
        self.details: dict[str, Any] = json.loads(details)
        """The document of ``windlass choose --json``: the advice, and the comparison that gives it."""
        self.algorithm: str = self.details["algorithm"]
        """The algorithm with the best mean."""
        self.alike: list[str] = self.details["alike"]
        """Algorithms that are not significantly worse."""

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self._text)}</pre>"


def choose(
    scenario: Scenario | str | PathLike[str],
    algorithms: Sequence[str | type[Controller]] = (),
    *,
    aim: str | None = None,
    seeds: int = 20,
    uncertain: Mapping[str, float] | None = None,
    memory: str | None = None,
    flash: str | None = None,
    jobs: int = 0,
    executor: Any = None,
    progress: Progress = None,
) -> Advice:
    """Recommends an algorithm for a network, and says on which networks the advice changes.

    Args:
        scenario: a scenario, or the path of its file.
        algorithms: the candidates, by name or as classes [default: all algorithms that fit the network].
        aim: a metric of :func:`compare` [default: by the traffic: ``completion``, ``late``, ``exchange`` or ``goodput``].
        seeds: number of drawn networks, at least 6.
        uncertain: factors of uncertainty: ``{"rate": 2, "delay": 1.5, "loss": 1}``. The factor 1 means known exactly.
        memory, flash: limits of the device, such as ``"104B"``. Their costs are known for algorithms of Windlass only.
        jobs: number of parallel runs; 0 means one per processor.
        executor: makes the runs elsewhere: a ``concurrent.futures.Executor``, a ``dask.distributed.Client``, or the module ``ray``.
        progress: a progress bar [default: in a terminal or notebook].
    """
    scenario = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
    factors = _UNCERTAIN | dict(uncertain or {})
    if unknown := [key for key in factors if key not in _UNCERTAIN]:
        raise InputError(f"uncertain: `{unknown[0]}` not found; expected rate, delay or loss")
    spread = [factors["rate"], factors["delay"], factors["loss"]]
    names = [named(a) for a in algorithms]
    with told(progress, scenario.name) as tell:
        native = scenario._native()
        return Advice(*_native.choose(native, names, aim, seeds, spread, memory, flash, jobs, tell, engine(executor)))


class Attack:
    """Conditions that harm an algorithm."""

    def __init__(self, details: str, scenario: str) -> None:
        self.details: dict[str, Any] = json.loads(details)
        """The document of ``windlass break --json``."""
        self.damage: float = self.details["damage"]
        """Damage of the attack, from 0 to 1."""
        self.unharmed: float = self.details["unharmed"]
        """Damage without the attack."""
        self.scenario = Scenario.from_toml(scenario, "attack")
        """The path with the attack, for :func:`run`."""

    def __repr__(self) -> str:
        return f"<{self.details['algorithm']}: {self.details['goal']} {self.damage:.3g}, {self.unharmed:.3g} unharmed, {self.details['runs']} runs>"


def break_(
    algorithm: str | type[Controller],
    *,
    goal: str = "idleness",
    rival: str | type[Controller] | None = None,
    losses: int = 20,
    bursts: float = 0.1,
    outages: str = "0s",
    queue: tuple[int, int] = (8, 132),
    rate: float = 1.0,
    jitter: str = "0s",
    acks: str = "0s",
    runs: int = 1000,
    seed: int = 1,
    jobs: int = 0,
    executor: Any = None,
    progress: Progress = None,
) -> Attack:
    """Searches for network conditions within bounds that harm an algorithm most: ``windlass break``.

    Args:
        algorithm: a name, or a class.
        goal: ``idleness``, ``stall``, ``starvation``, ``harm`` (to the rival) or ``delay``.
        rival: the algorithm of a second flow, by name or as a class.
        losses: maximum number of lost packets.
        bursts: maximum share of the time in which other traffic fills the bottleneck.
        outages: maximum time in which the bottleneck is down, such as ``"500ms"``.
        queue: minimum and maximum queue, packets.
        rate: minimum rate of the bottleneck, as a share of the full rate.
        jitter: maximum additional delay of the first flow's packets.
        acks: maximum time for which acknowledgements are held.
        runs: maximum number of runs of the search, at least 25.
        seed: seed of the search.
        jobs: number of parallel runs; 0 means one per processor.
        executor: makes the runs elsewhere; a round has 24 runs.
        progress: a progress bar [default: in a terminal or notebook].
    """
    name = named(algorithm)
    beside = None if rival is None else named(rival)
    with told(progress, name) as tell:
        (shortest, longest), times = queue, [outages, jitter, acks]
        limits = losses, bursts, shortest, longest, rate
        return Attack(*_native.attack(name, goal, beside, *limits, times, runs, seed, jobs, tell, engine(executor)))
