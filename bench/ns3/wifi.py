#!/usr/bin/env python3
"""Compares Windlass's Wi-Fi cell with ns-3 3.44's.

Runs one access point and 1 to 10 stations, uploads, downloads and both, TCP and saturating datagrams, 802.11b and g, with and
without RTS; with `--used` 802.11n with aggregates of several lengths, and rate adaptation at several signal levels. Results are kept in
bench/ns3/.cache, and an interrupted command resumes. `--quick` runs sixteen cells with one seed. Exit code 0: compared; 1: something
failed; 3: skipped with a message, because this machine lacks a tool.
"""

import argparse
import hashlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import compare
import setup
from differences import STUDENT, TRUST, aligned, jain
from program import ended, put_csv
from runs import Kept, Stream
from wifi_cells import grid, ns3_line, scenario, used_grid

# Raised when wifi.cc or a cell changes what ns-3 simulates: results of another version are run again.
NS3_VERSION = 1
NS3_RESULTS = setup.CACHE / "wifi-ns3.jsonl"
WINDLASS_RESULTS = setup.CACHE / "wifi-windlass.jsonl"
USED_DATA, DATA = TRUST / "wifi-used.csv", TRUST / "wifi.csv"
# Beyond this a difference is explained on the page.
GOAL = 0.10
# With fewer an interval says nothing.
LEAST_SEEDS = 3


def run_windlass(program, run):
    """One scenario; the result has the keys of ns-3's."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(scenario(run))
        file.flush()
        command = [program, "--quiet", "run", file.name, "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise compare.Failed(f"windlass could not run {run.key()}:\n{done.stderr.strip()}\n{scenario(run)}")
    result = json.loads(done.stdout)
    stations = result["cells"][0]["stations"]
    total = lambda field: sum(station[field] for station in stations)
    return {
        "key": run.key(),
        "goodput_bps": [round(flow["goodput_bps"]) for flow in result["flows"]],
        "attempts": total("transmissions"),
        "unanswered": total("failures"),
        "retry_drops": total("drops_retry"),
        "queue_drops": total("drops_queue"),
    }


def measure(runs, arguments):
    """Results of both by key; only those that both have."""
    ns3 = Kept(NS3_RESULTS, NS3_VERSION)
    if not arguments.kept:
        with Stream([setup.ensure("wifi")]) as stream:
            ns3.fill("ns-3", runs, lambda run: stream.ask(ns3_line(run)), 1)
    runs = [run for run in runs if "failed" not in ns3.done.get(run.key(), {"failed": True})]
    if arguments.ns3_only:
        return runs, ns3.done, {}
    program = arguments.windlass or compare.build_windlass()
    version = hashlib.sha256(Path(program).read_bytes()).hexdigest()[:16]
    ours = Kept(WINDLASS_RESULTS, version)
    return runs, ns3.done, ours.fill("windlass", runs, lambda run: run_windlass(program, run), arguments.jobs)


def goodput(results):
    return [sum(result["goodput_bps"]) / 1e6 for result in results]


def spread(values):
    """Half width of the 95 % interval of the mean (Student)."""
    return STUDENT[len(values)] * statistics.stdev(values) / math.sqrt(len(values))


def row(cell, ns3, ours):
    """One cell: means over the seeds. Attempts that failed are a share of all."""
    theirs_mbps, ours_mbps = goodput(ns3), goodput(ours)
    mean = statistics.mean
    difference = mean(ours_mbps) / mean(theirs_mbps) - 1
    # The seeds of two simulators have nothing in common: the intervals of both means add up in quadrature.
    doubt = None
    if len(ns3) >= LEAST_SEEDS:
        doubt = math.hypot(spread(theirs_mbps), spread(ours_mbps)) / mean(theirs_mbps)
    failed = lambda side: mean(result["unanswered"] / max(1, result["attempts"]) for result in side)
    fair = lambda side: mean(jain(result["goodput_bps"]) for result in side)
    return {
        "cell": cell.name(),
        "runs": len(ns3),
        "ns3_mbps": mean(theirs_mbps),
        "windlass_mbps": mean(ours_mbps),
        "difference": difference,
        "interval": doubt,
        "ns3_failed": failed(ns3),
        "windlass_failed": failed(ours),
        "ns3_fairness": fair(ns3),
        "windlass_fairness": fair(ours),
    }


def rows(runs, ns3, ours):
    cells = dict.fromkeys(run.cell for run in runs)
    keys = {cell: [run.key() for run in runs if run.cell == cell] for cell in cells}
    return [row(cell, [ns3[key] for key in keys[cell]], [ours[key] for key in keys[cell]]) for cell in cells]


def cells_of_table(found):
    head = ("cell", "runs", "Mbps ns-3", "ours", "difference", "failed ns-3", "ours", "Jain ns-3", "ours")
    lines = [head]
    for one in found:
        doubt = f" ± {one['interval']:.1%}" if one["interval"] is not None else ""
        mark = " !" if abs(one["difference"]) > GOAL else ""
        lines.append((
            one["cell"], str(one["runs"]), f"{one['ns3_mbps']:.3f}", f"{one['windlass_mbps']:.3f}",
            f"{one['difference']:+.1%}{doubt}{mark}", f"{one['ns3_failed']:.1%}", f"{one['windlass_failed']:.1%}",
            f"{one['ns3_fairness']:.2f}", f"{one['windlass_fairness']:.2f}",
        ))
    return lines


def summary(found):
    distances = [abs(one["difference"]) for one in found]
    beyond = sum(distance > GOAL for distance in distances)
    return f"{len(found)} cells: median difference {statistics.median(distances):.1%}, {beyond} beyond {GOAL:.0%}"


def record(one):
    """A row of the file; docs/tables.py makes the page's summary of it."""
    percent = lambda key, form=".1f": "" if one[key] is None else f"{100 * one[key]:{form}}"
    return {
        "cell": one["cell"], "runs": one["runs"],
        "ns3_mbps": f"{one['ns3_mbps']:.3f}", "windlass_mbps": f"{one['windlass_mbps']:.3f}",
        "difference_percent": percent("difference", "+.1f"), "interval_percent": percent("interval"),
        "ns3_failed_percent": percent("ns3_failed"), "windlass_failed_percent": percent("windlass_failed"),
        "ns3_jain": f"{one['ns3_fairness']:.2f}", "windlass_jain": f"{one['windlass_fairness']:.2f}",
    }


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="sixteen cells, one seed")
    parser.add_argument("--used", action="store_true", help="802.11n, aggregation and rate adaptation instead")
    parser.add_argument("--ns3-only", action="store_true", help="only run ns-3 and keep its results")
    parser.add_argument("--kept", action="store_true", help="compare what ns-3 has results of, running no more of it")
    parser.add_argument("--windlass", metavar="PROGRAM", help="this program, instead of building one")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="runs of Windlass at a time")
    parser.add_argument("--json", action="store_true", help="print one JSON document, not a table")
    parser.add_argument("--write", action="store_true", help="write docs/src/trust/wifi.csv, or with --used wifi-used.csv")
    return parser.parse_args()


def compare_cells(arguments):
    cells, path = (used_grid, USED_DATA) if arguments.used else (grid, DATA)
    runs, ns3, ours = measure(cells(arguments.quick), arguments)
    if arguments.ns3_only:
        return
    found = rows(runs, ns3, ours)
    if not found:
        raise compare.Failed("ns-3 has no results yet; run without --kept")
    print(json.dumps(found, indent=2) if arguments.json else f"{aligned(cells_of_table(found))}\n{summary(found)}")
    if arguments.write:
        put_csv(path, list(map(record, found)))


if __name__ == "__main__":
    sys.exit(ended(lambda: compare_cells(parse_arguments())))
