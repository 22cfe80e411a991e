#!/usr/bin/env python3
"""Prints the acknowledgements per second of processor time that classes in Python get (docs/src/guides/python.md).

  bench/python_class.py     needs the package, for example in target/python-venv after lab/windlass-python/test --release

The best of three runs of each class: two methods of one line, and CUBIC and BBR as the tests compare them with Rust. The first row is
Reno in Rust.
"""

import sys
import time
from pathlib import Path

import windlass as wl

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab/windlass-python/tests"))
from mine import Scalable  # noqa: E402
from ported_bbr import Bbr  # noqa: E402
from ported_cubic import Cubic  # noqa: E402

RUNS = 3


def scenario(algorithm: str) -> wl.Scenario:
    return (
        wl.Scenario(duration="20s")
        .link("a", "b", rate="50Mbps", delay="10ms", queue="100pkt")
        .flow("a", "b", algorithm=algorithm)
        .set("stack.delayed_ack_segments", 1)  # an acknowledgement for each segment
    )


def speed(algorithm: str, controllers: type[wl.Controller] | None) -> float:
    begun = time.process_time()
    flows = wl.run(scenario(algorithm), controllers=controllers).flows
    return flows["data_segments"][0] / (time.process_time() - begun)


for name, algorithm, controllers in [
    ("Reno in Rust", "reno", None),
    ("WindowController", "reno", wl.WindowController),
    ("Scalable", "reno", Scalable),
    ("CUBIC", "cubic", Cubic),
    ("BBR", "bbr", Bbr),
]:
    best = max(speed(algorithm, controllers) for _ in range(RUNS))
    print(f"{best:11,.0f} acknowledgements per second  {name}")
