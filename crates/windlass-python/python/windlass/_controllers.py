"""Congestion control in Python, for teaching and first experiments, with a check by the conformance vectors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ._errors import InputError

_NEVER = 2**32 - 1


class Facts(SimpleNamespace):
    """State of a connection, or data of an event. A missing value is ``None``, and so is a sum over nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None


class Controller:
    """Base class of an algorithm, with a method for each event. Windows are bytes, times nanoseconds (``_ns``), rates bytes per second.

    ``conn`` has the state after the event: ``now_ns``, ``in_flight``, ``flight_size``, ``una``, ``next_id``, ``delivered``, ``lost``, ``sent``,
    ``srtt_ns``, ``min_rtt_ns``, ``mss``, ``limited_by`` and ``phase`` (``open``, ``recovery``, ``loss``, ``cwr``). The book's page on
    conformance vectors explains each. After an event the host reads :attr:`cwnd`, :attr:`ssthresh` and :attr:`pacing`.

    Args:
        params: the algorithm's parameters.
        setup: ``initial_window``, ``initial_ssthresh`` (bytes), ``recovery`` (``tahoe``, ``reno``, ``newreno``, ``sack``, ``prr``) and
            ``ack_limit``, the maximum number of segments for which one acknowledgement counts.
        conn: the new connection.
    """

    cwnd: float
    """Congestion window, bytes."""
    ssthresh: float | None = None
    """Slow-start threshold, bytes; ``None`` for an algorithm without one."""
    pacing: float | None = None
    """Pacing rate, bytes per second; ``None`` for an algorithm without pacing."""

    def __init__(self, params: dict[str, Any], setup: Facts, conn: Facts) -> None:
        self.params, self.setup = params, setup
        self.cwnd, self.ssthresh = setup.initial_window, setup.initial_ssthresh

    def on_ack(self, conn: Facts, ack: Facts) -> None:
        """An acknowledgement, duplicates included: ``acked``, ``newly_delivered``, ``newly_lost`` bytes, ``rtt_ns``, ``duplicate``."""

    def on_phase(self, conn: Facts, before: str, after: str) -> None:
        """The phase of loss recovery changes. ``conn.flight_size`` is the flight at which the loss was detected."""

    def on_loss(self, conn: Facts, loss: Facts) -> None:
        """A segment was deemed lost: ``bytes``."""

    def on_undo(self, conn: Facts, why: str) -> None:
        """The reduction at the beginning of the phase was unnecessary."""

    def on_idle(self, conn: Facts, gap_ns: int, reset: bool) -> None:
        """The first transmission after an idle time. ``reset`` is true if the idle time was longer than a timeout."""

    def on_mss(self, conn: Facts, old_mss: int) -> None:
        """The segment size changed from ``old_mss`` to ``conn.mss``."""

    def on_other(self, conn: Facts, event: Facts) -> None:
        """Events that only algorithms for several paths or for radios need."""


class WindowController(Controller):
    """An algorithm with cwnd. A subclass defines only the growth of cwnd in congestion avoidance and its reduction after a loss. This
    class has slow start, fast recovery (RFC 5681, 6582, 6675), timeouts, idle times, changes of the segment size and undo.
    The default growth and reduction are Reno's.
    """

    def increase(self, conn: Facts, ack: Facts, credit: float) -> float:
        """Growth of cwnd in congestion avoidance, bytes, for an acknowledgement that counts for ``credit`` bytes."""
        return float(conn.mss * max(credit, conn.mss) / self.cwnd)

    def threshold(self, conn: Facts, cause: str) -> float:
        """ssthresh after a ``loss``, a ``timeout`` or a ``mark``, bytes."""
        return float(max(conn.flight_size / 2, 2 * conn.mss))

    def __init__(self, params: dict[str, Any], setup: Facts, conn: Facts) -> None:
        super().__init__(params, setup, conn)
        self.ssthresh: float = setup.initial_ssthresh
        self._before = (self.cwnd, self.ssthresh)
        self._can_undo = self._is_undone = self._timed_out = False
        self._counts = setup.ack_limit or _NEVER

    @property
    def _inflates(self) -> bool:
        return self.setup.recovery in ("reno", "newreno")

    def on_ack(self, conn: Facts, ack: Facts) -> None:
        acked = ack.acked or 0
        if conn.phase == "recovery":
            if self._is_undone:
                return
            if ack.duplicate and self._inflates:
                self.cwnd += conn.mss
            elif acked and self.setup.recovery == "newreno":
                self.cwnd = max(self.cwnd - acked + (conn.mss if acked >= conn.mss else 0), conn.mss)
        elif conn.phase in ("open", "loss") and acked and not ack.duplicate and "cwnd" in conn.limited_by:
            # RFC 3465 section 2.3: after a timeout an acknowledgement counts for one segment.
            counts = 1 if self._timed_out and self._counts < _NEVER else self._counts
            credit = min(acked, counts * conn.mss)
            if self.cwnd < self.ssthresh:
                self.cwnd += credit
            else:
                self._timed_out = False
                self.cwnd += self.increase(conn, ack, credit)

    def on_phase(self, conn: Facts, before: str, after: str) -> None:
        match before, after:
            case _, "recovery":
                self._before = (self.cwnd, self.ssthresh)
                self._can_undo = True
                if before != "cwr":
                    self._timed_out = False
                    self.ssthresh = self.threshold(conn, "loss")
                self.cwnd = max(self.ssthresh + (3 * conn.mss if self._inflates else 0), conn.mss)
            case ("open" | "loss"), "cwr":
                self._can_undo = self._timed_out = False
                self.ssthresh = self.threshold(conn, "mark")
                self.cwnd = max(min(self.cwnd, self.ssthresh), conn.mss)
            case "recovery", "open" if not self._is_undone:
                self.cwnd = self.ssthresh
                if self.setup.recovery == "newreno":
                    self.cwnd = min(self.ssthresh, max(conn.in_flight, conn.mss) + conn.mss)
            case _, "loss":
                if before == "open":
                    self._before = (self.cwnd, self.ssthresh)
                    self.ssthresh = self.threshold(conn, "timeout")
                elif before != "loss":
                    if not self._can_undo:
                        self._before = (self.cwnd, self.ssthresh)
                    self.ssthresh = min(self.ssthresh, self.threshold(conn, "timeout"))
                if before != "loss":
                    self._can_undo = self._timed_out = True
                self.cwnd = conn.mss
        self._is_undone = False

    def on_undo(self, conn: Facts, why: str) -> None:
        if self._can_undo:
            self._can_undo, self._is_undone, self._timed_out = False, True, False
            # Without what duplicates inflate it by.
            grown = min(self.cwnd, self.ssthresh) if conn.phase == "recovery" else self.cwnd
            self.cwnd, self.ssthresh = max(grown, self._before[0]), max(self.ssthresh, self._before[1])

    def on_idle(self, conn: Facts, gap_ns: int, reset: bool) -> None:
        if reset:
            self.cwnd = min(self.cwnd, self.setup.initial_window)

    def on_mss(self, conn: Facts, old_mss: int) -> None:
        factor = conn.mss / old_mss
        self.cwnd, self.ssthresh = max(self.cwnd * factor, conn.mss), self.ssthresh * factor
        self._before = (self.cwnd, self.ssthresh)


class _Seat:
    """A controller on a connection of the simulator, which passes events as lines of the vectors' format."""

    def __init__(self, controller: type[Controller], first: str) -> None:
        header = json.loads(first)
        self._conn = Facts(**header["conn"])
        self._made = controller(header["params"], Facts(**header["setup"]), self._conn)

    def tell(self, line: str) -> tuple[float, float | None, float | None]:
        event = json.loads(line)
        vars(self._conn).update(event["conn"])
        _tell(self._made, self._conn, Facts(**event))
        return self.answer()

    def answer(self) -> tuple[float, float | None, float | None]:
        made = self._made
        for what in ("cwnd", "ssthresh", "pacing"):
            value = getattr(made, what)
            if value is not None and not value >= (1 if what == "cwnd" else 0):
                raise InputError(f"{type(made).__name__}.{what} is {value} at {self._conn.now_ns / 1e9:g} s; cwnd must be at least one byte, and a threshold or rate must not be negative")
        return made.cwnd, made.ssthresh, made.pacing


@dataclass(frozen=True)
class Difference:
    """A difference between an algorithm and a vector."""

    file: Path
    line: int
    what: str
    expected: float | None
    got: float | None
    about: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}: expected {self.expected}, got {self.got} ({self.about})"


def conform(controller: type[Controller], vectors: str | PathLike[str]) -> list[Difference]:
    """Checks an algorithm with conformance vectors, such as the folder ``conformance/reno``. Returns the first difference of each file.

    Args:
        controller: the class.
        vectors: a file of conformance vectors (the book's page on them explains the format), or a folder of such files.
    """
    path = Path(vectors)
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files:
        raise InputError(f"{path} has no vectors", file=str(path))
    return [d for file in files if (d := next(_differences(controller, file), None)) is not None]


def _read(file: Path) -> list[dict[str, Any]]:
    try:
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as e:
        raise InputError(f"{file}: not a conformance vector: {e}", file=str(file)) from e
    if not lines or lines[0].get("format") != "windlass-conformance" or lines[0].get("version") != 1:
        raise InputError(f"{file}: not a conformance vector of version 1", file=str(file))
    return lines


def _differences(controller: type[Controller], file: Path) -> Iterator[Difference]:
    header, *events = _read(file)
    conn = Facts(**header["conn"])
    made = controller(header["params"], Facts(**header["setup"]), conn)
    yield from _held(made, file, 1, header)
    for number, event in enumerate(events, start=2):
        vars(conn).update(event["conn"])
        _tell(made, conn, Facts(**event))
        yield from _held(made, file, number, event)


def _tell(made: Controller, conn: Facts, event: Facts) -> None:
    match event.event:
        case "ack":
            made.on_ack(conn, event)
        case "phase":
            made.on_phase(conn, getattr(event, "from"), event.to)
        case "loss":
            made.on_loss(conn, event)
        case "undo":
            made.on_undo(conn, event.why)
        case "idle":
            made.on_idle(conn, event.gap_ns, bool(event.reset))
        case "mss":
            made.on_mss(conn, event.old_mss)
        case _:
            made.on_other(conn, event)


def _held(made: Controller, file: Path, number: int, line: dict[str, Any]) -> Iterator[Difference]:
    expect = line["expect"]
    for what in ("cwnd", "ssthresh", "pacing"):
        expected, got = expect.get(what), getattr(made, what)
        tolerance = expect.get("pacing_tolerance" if what == "pacing" else "tolerance", 0)
        if expected is None and what == "pacing":
            continue
        if (expected is None) != (got is None) or (expected is not None and abs(expected - got) > tolerance):
            yield Difference(file, number, what, expected, got, line.get("event", "the new connection"))
