"""A laboratory for TCP congestion control in IoT networks.

>>> import windlass as wl
>>> s = wl.Scenario(duration="20s").link("sensor", "gateway", rate="250kbps", delay="20ms")
>>> s = s.flow("sensor", "gateway", algorithm="reno")
>>> r = wl.run(s, seeds=3)
>>> len(r.flows)
3

Quantities are text with a unit: ``"2Mbps"``, ``"30ms"``, ``"64KiB"``, ``"0.5%"``. The name of a column of numbers ends with its unit:
``goodput_bps``, ``srtt_ms``. The same scenario and seed give the same bytes here and on the command line.
"""

from ._choose import Advice, Attack, break_, choose
from ._compare import Comparison, compare
from ._controllers import Controller, WindowController, conform, write_vectors
from ._errors import Error, InputError, RunError
from ._figure import figure
from ._native import VERSION as __version__
from ._native import Ack, Conn, Loss, RateSample, Setup
from ._page import Page
from ._papers import Assessment, Reproduction, assess, papers, reproduce
from ._results import Results, load, run
from ._scenario import Scenario
from ._sweep import Sweep, SweepResults, work_on
from ._table import Table, algorithms

__all__ = [
    "Ack",
    "Advice",
    "Assessment",
    "Attack",
    "Comparison",
    "Conn",
    "Controller",
    "Error",
    "InputError",
    "Loss",
    "Page",
    "RateSample",
    "Reproduction",
    "Results",
    "RunError",
    "Scenario",
    "Setup",
    "Sweep",
    "SweepResults",
    "Table",
    "WindowController",
    "__version__",
    "algorithms",
    "assess",
    "break_",
    "choose",
    "compare",
    "conform",
    "figure",
    "load",
    "papers",
    "reproduce",
    "run",
    "work_on",
    "write_vectors",
]
