"""Congestion control in Python, for teaching and first experiments, with a check by the conformance vectors."""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any
from warnings import warn

from . import _native
from ._errors import InputError
from ._native import Ack, Conn, Loss, Setup


class Controller:
    """Base class of an algorithm, with a method for each event. Windows are bytes, times nanoseconds (``_ns``), rates bytes per second.

    ``conn`` has the state after the event: see :class:`windlass.Conn`. After an event the host reads :attr:`cwnd`, :attr:`ssthresh` and
    :attr:`pacing`. A class declares by :attr:`like` and :attr:`recovery` what it needs of the stack. The class works on one path: a flow
    with several paths is refused.

    Args:
        params: the parameters of the algorithm :attr:`like`.
        setup: the settings of the stack.
        conn: the new connection.
    """

    like: str | None = None
    """Identifier of the algorithm whose services the stack gives to the class: delivery-rate samples, ECN, slow start and ``params``.
    ``"bbr"`` for samples. ``None`` is the algorithm that the class replaces in :func:`run`, and otherwise ``"newreno"``."""
    recovery: str | None = None
    """Loss recovery: ``tahoe``, ``reno``, ``newreno``, ``sack`` or ``prr``; ``None`` for the recovery of :attr:`like`. As for every algorithm,
    the ``recovery`` of the stack or its preset has precedence."""
    cwnd: float
    """Congestion window, bytes."""
    ssthresh: float | None = None
    """Slow-start threshold, bytes; ``None`` for an algorithm without one."""
    pacing: float | None = None
    """Pacing rate, bytes per second; ``None`` for an algorithm without pacing."""

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        known = {name for base in cls.__mro__[1:-1] if base.__module__ == __name__ for name in vars(base) if not name.startswith("_")}
        for name in sorted(name for name in vars(cls).keys() - known if not name.startswith("_")):
            meant = get_close_matches(name, known, 1, 0.5 if name.startswith("on_") else 0.85)
            if meant and callable(vars(cls)[name]):
                warn(f"Windlass never calls {cls.__qualname__}.{name}; did you mean {meant[0]}?", stacklevel=2)

    def __init__(self, params: dict[str, Any], setup: Setup, conn: Conn) -> None:
        self.params, self.setup = params, setup
        self.cwnd, self.ssthresh = setup.initial_window, setup.initial_ssthresh

    def on_ack(self, conn: Conn, ack: Ack) -> None:
        """An acknowledgement, duplicates included."""

    def on_phase(self, conn: Conn, before: str, after: str) -> None:
        """The phase of loss recovery changes. ``conn.flight_size`` is the flight at which the loss was detected."""

    def on_loss(self, conn: Conn, loss: Loss) -> None:
        """A segment was deemed lost."""

    def on_undo(self, conn: Conn, why: str) -> None:
        """The reduction at the beginning of the phase was unnecessary: ``dsack``, ``eifel`` or ``frto``."""

    def on_idle(self, conn: Conn, gap_ns: int, reset: bool) -> None:
        """The first transmission after an idle time. ``reset`` is true if the idle time was longer than a timeout."""

    def on_mss(self, conn: Conn, old_mss: int) -> None:
        """The segment size changed from ``old_mss`` to ``conn.mss``."""

    def on_other(self, conn: Conn, event: Any) -> None:
        """Events that only algorithms for several paths or for radios need."""


class WindowController(Controller):
    """An algorithm with cwnd. A subclass defines only the growth of cwnd in congestion avoidance and its reduction after a loss.

    Slow start, fast recovery, timeouts, idle times, changes of the segment size and undo are the same code as for the algorithms in
    Rust, with the slow start that the flow names. The default growth and reduction are Reno's. While Windlass calls :meth:`increase` or
    :meth:`threshold`, ``self.cwnd`` has whole bytes, and whole segments on a stack that counts segments.
    Such a stack calls :meth:`increase` also for the acknowledgement that ends slow start, with the segments above ssthresh as ``credit``,
    as Linux does for Reno and CUBIC.
    """

    ssthresh: float
    cwnd_exact: float
    """The window with its fraction, a multiple of 1/65536 byte, while Windlass calls a method of the class."""

    def increase(self, conn: Conn, ack: Ack, credit: int) -> float:
        """Growth of cwnd in congestion avoidance, bytes, for an acknowledgement that counts for ``credit`` bytes."""
        if self.params.get("increase") == "per-byte":
            return float(conn.mss * min(ack.acked, self.cwnd) / self.cwnd)
        return float(conn.mss * max(credit, conn.mss) / self.cwnd)

    def threshold(self, conn: Conn, cause: str) -> float:
        """ssthresh after a ``loss``, a ``timeout`` or a ``mark``, bytes."""
        return float(max(conn.flight_size // 2, 2 * conn.mss))

    def begin_epoch(self, conn: Conn) -> None:
        """A new epoch of growth begins: after a reduction, at the end of loss recovery, or at a restart after an idle time."""

    def undone(self, conn: Conn) -> None:
        """The last reduction was unnecessary. The window is already restored."""

    def __init__(self, params: dict[str, Any], setup: Setup, conn: Conn) -> None:
        super().__init__(params, setup, conn)
        self._window = _native.Window(setup, conn, self)

    def on_ack(self, conn: Conn, ack: Ack) -> None:
        self._window.on_ack(self, conn, ack)

    def on_phase(self, conn: Conn, before: str, after: str) -> None:
        self._window.on_phase(self, conn, before, after)

    def on_undo(self, conn: Conn, why: str) -> None:
        self._window.on_undo(self, conn)

    def on_idle(self, conn: Conn, gap_ns: int, reset: bool) -> None:
        self._window.on_idle(self, conn, gap_ns, reset)

    def on_mss(self, conn: Conn, old_mss: int) -> None:
        self._window.on_mss(self, conn, old_mss)


@dataclass(frozen=True)
class Difference:
    """A difference between an algorithm and a vector."""

    file: Path
    line: int
    what: str
    expected: float
    got: float
    about: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}: expected {self.expected}, got {self.got} ({self.about})"


def write_vectors(folder: str | PathLike[str]) -> int:
    """Writes the conformance vectors of all algorithms with a model, in a folder for each algorithm. Returns their number."""
    return _native.write_vectors(Path(folder))


def conform(controller: type[Controller], vectors: str | PathLike[str]) -> list[Difference]:
    """Checks an algorithm with conformance vectors, such as the folder ``vectors/reno`` after :func:`write_vectors`. Returns the first
    difference of each file.

    Args:
        controller: the class.
        vectors: a file of conformance vectors (the book's page on them explains the format), or a folder of such files.
    """
    path = Path(vectors)
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files:
        raise InputError(f"{path} has no vectors", file=str(path))
    return [difference for file in files if (difference := _difference(controller, file)) is not None]


def _difference(controller: type[Controller], file: Path) -> Difference | None:
    found = _native.conform(controller, file)
    if found is None:
        return None
    line, what, expected, got = found
    event = json.loads(file.read_text(encoding="utf-8").splitlines()[line - 1]).get("event", "the new connection")
    return Difference(file, line, what, expected, got, event)
