#!/usr/bin/env python3
"""Prints the acknowledgements per second of processor time that a class in Python gets (docs/src/guides/python.md).

  bench/python_class.py     needs the package, for example in target/python-venv after crates/windlass-python/test
"""

import time

import windlass as wl

scenario = (
    wl.Scenario(duration="20s")
    .link("a", "b", rate="50Mbps", delay="10ms", queue="100pkt")
    .flow("a", "b", algorithm="reno")
    .set("stack.delayed_ack_segments", 1)  # an acknowledgement for each segment
)
begun = time.process_time()
flows = wl.run(scenario, controllers=wl.WindowController).flows
print(f"{flows['data_segments'][0] / (time.process_time() - begun):,.0f} acknowledgements per second")
