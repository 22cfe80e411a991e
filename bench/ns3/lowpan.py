#!/usr/bin/env python3
"""Compares Windlass's low-power radio with ns-3 3.44's lr-wpan.

Runs 1 to 20 saturated stations around a sink, with frames of 127 and 60 bytes, and two hidden stations. Prints delivered frames,
attempts without acknowledgement, and failed accesses; with `--speed` packets on the air per CPU-second. Takes a minute. Exit code 0:
compared; 1: something failed; 3: skipped with a message, because this machine lacks a tool.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

import compare
import setup
from differences import BENCHMARKS, RADIO_PAGE, aligned
from program import ended, markdown, put, run_lines

MARKS = ("<!-- lowpan: written by bench/ns3/lowpan.py --write -->", "<!-- /lowpan -->")
SPEED_MARKS = ("<!-- lowpan-speed: written by bench/ns3/lowpan.py --speed --write -->", "<!-- /lowpan-speed -->")
SECONDS = 100
SEEDS = (1, 2, 3)
# MAC header and compressed IP header, and the headers of IPv4 and UDP, of which the first is not on the air.
MAC_BYTES, IP_BYTES, UDP_BYTES = 11, 7, 8


@dataclass(frozen=True)
class Cell:
    stations: int
    frame: int
    hidden: bool = False

    def name(self):
        return f"{self.stations} st., {self.frame} B" + (", hidden" if self.hidden else "")

    def scenario(self):
        """Stations and a sink; hidden ones on either side of it, 20 m away, heard up to 30 m."""
        payload = self.frame - MAC_BYTES - IP_BYTES - UDP_BYTES
        names = range(1, self.stations + 1)
        place = lambda i: f'["{20 * (-1) ** i}m", "0m"]' if self.hidden else f'["{i}mm", "0m"]'
        stations = ", ".join(f'{{ node = "s{i}", at = {place(i)} }}' for i in names)
        return f"""duration = "{SECONDS}s"
[[wifi]]
standard = "802.15.4"
access_point = "sink"
stations = [{stations}]
path_loss = {{ model = "disc", receive = "30m" }}
[[flow]]
name = "f"
from = "s*"
to = "sink"
count = {self.stations}
traffic = {{ kind = "cbr", rate = "250kbps", packet = "{payload}B", transport = "udp" }}
"""


CELLS = [*(Cell(n, frame) for frame in (127, 60) for n in (1, 2, 5, 10, 20)), Cell(2, 127, hidden=True)]


# Of these the speed is measured, so many times in turn.
SPEED_CELLS = [Cell(n, 127) for n in (1, 5, 20)]
PAIRS = 3


def ask_ns3(program, cell, seed):
    command = [program, f"--stations={cell.stations}", f"--frame={cell.frame}", f"--seconds={SECONDS}", f"--seed={seed}"]
    done = subprocess.run([*command, f"--hidden={int(cell.hidden)}"], capture_output=True, text=True)
    if done.returncode:
        raise compare.Failed(f"ns-3 could not run {cell.name()}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def run_ns3(program, cell, seed):
    result = ask_ns3(program, cell, seed)
    return shares(result["delivered"], result["attempts"], result["attempts"] - result["delivered"], result["refused"])


def run_windlass(program, cell, seed):
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(cell.scenario())
        file.flush()
        command = [program, "--quiet", "run", file.name, "--json", "--set", f"seed={seed}"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise compare.Failed(f"windlass could not run {cell.name()}:\n{done.stderr.strip()}")
    stations = json.loads(done.stdout)["cells"][0]["stations"]
    total = lambda field: sum(station.get(field, 0) for station in stations)
    answered = total("transmissions") - total("failures")
    return shares(answered, total("transmissions"), total("failures"), total("access_failures"))


def shares(answered, attempts, unanswered, refused):
    """Frames acknowledged a second; shares of attempts without an answer, and of frames without an access."""
    return answered / SECONDS, unanswered / max(1, attempts), refused / max(1, refused + answered)


def row(cell, ns3, ours):
    mean = lambda side, i: statistics.mean(result[i] for result in side)
    rates = [mean(side, 0) for side in (ns3, ours)]
    of = lambda i: [f"{mean(side, i):.1%}" for side in (ns3, ours)]
    difference = rates[1] / rates[0] - 1
    return [cell.name(), *(f"{rate:.1f}" for rate in rates), f"{difference:+.1%}", *of(1), *of(2)]


def speed_row(ns3, bench, cell):
    """Packets put on the air in both, a CPU-second's of each, and their ratio over pairs of runs."""
    pairs = []
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(cell.scenario())
        file.flush()
        for _ in range(PAIRS):
            theirs = ask_ns3(ns3, cell, SEEDS[0])
            (ours,) = run_lines([bench, file.name])
            pairs.append((theirs["packets"] / theirs["cpu_s"], ours["hops_per_cpu_s"]))
    hops = [theirs["packets"], ours["packet_hops"]]
    ratios = [mine / others for others, mine in pairs]
    speeds = [statistics.median(pair[side] for pair in pairs) for side in (0, 1)]
    ratio = f"{statistics.median(ratios):.0f} ({min(ratios):.0f} to {max(ratios):.0f})"
    return [cell.name(), *(f"{n:,}" for n in hops), *(f"{v:,.0f}" for v in speeds), ratio]


def speed(arguments):
    ns3, bench = setup.ensure("lowpan"), compare.build_bench()
    head = ["cell", "packet-hops ns-3", "ours", "per CPU-second ns-3", "ours", "ratio"]
    found = [speed_row(ns3, bench, cell) for cell in SPEED_CELLS]
    print(aligned([head, *found]), compare.BUILD_NOTE, sep="\n")
    if arguments.write:
        put(BENCHMARKS, SPEED_MARKS, markdown(head, *found))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--windlass", metavar="PROGRAM", help="this program, instead of building one")
    parser.add_argument("--speed", action="store_true", help="packet-hops per CPU-second instead")
    parser.add_argument("--write", action="store_true", help="put the table into docs/src/trust/validation-ns3-radio.md, that of --speed into docs/src/trust/benchmarks.md")
    return parser.parse_args()


def compare_cells(arguments):
    if arguments.speed:
        speed(arguments)
        return
    ns3 = setup.ensure("lowpan")
    program = arguments.windlass or compare.build_windlass()
    head = ["cell", "frames/s ns-3", "ours", "difference", "unanswered ns-3", "ours", "no access ns-3", "ours"]
    found, began = [], time.monotonic()
    for cell in CELLS:
        found.append(row(cell, *([run(name, cell, seed) for seed in SEEDS] for run, name in
                                 ((run_ns3, ns3), (run_windlass, program)))))
        print(f"{len(found)} of {len(CELLS)} cells, {time.monotonic() - began:.0f} s", file=sys.stderr)
    print(aligned([head, *found]))
    if arguments.write:
        put(RADIO_PAGE, MARKS, markdown(head, *found))


if __name__ == "__main__":
    sys.exit(ended(lambda: compare_cells(parse_arguments())))
