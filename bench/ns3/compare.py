#!/usr/bin/env python3
"""Compares the speed of Windlass and ns-3 3.44 on the same dumbbells, in packet-hops per CPU-second.

A packet-hop is one frame on one link, data or ACK. The script builds both programs first. Each case runs in ns-3 once to count
hops, and then alternately by ns-3 and by Windlass (A B A B), so that a slower machine slows both. The ratio is computed within each pair.

Exit code 0: compared; 1: something failed; 3: skipped with a message, because this machine lacks a tool.
"""

import argparse
import json
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path

import setup
import program  # where setup has said
from program import Failed, ended, run_lines

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/src/trust/benchmarks.md"
MARKS = ("<!-- ns3-speed: written by bench/ns3/compare.py --write -->", "<!-- /ns3-speed -->")


def newreno(flows, duration, stagger):
    """NewReno without SACK: what ns-3's program is told must agree with scenarios/bench/dumbbell-N.toml."""
    return {"flows": flows, "duration": duration, "stagger": stagger}, [f"scenarios/bench/dumbbell-{flows}.toml"]


def cubic(flows):
    """CUBIC with SACK, as users run it; the starts are spread over the first second."""
    stagger = 1 / flows
    sets = {
        "topology.pairs": flows,
        "topology.bottleneck.rate": f"{10 * flows}Mbps",
        "topology.bottleneck.queue": f"{67 * flows}pkt",
        "topology.access.queue": "100pkt",
        "flow.0.jitter": "0s",
        "flow.0.stagger": f"{round(stagger * 1e6)}us",
    }
    ours = ["scenarios/bench/dumbbell.toml", *(word for key, value in sets.items() for word in ("--set", f"{key}={value}"))]
    return {"flows": flows, "duration": 10, "stagger": stagger, "algorithm": "cubic"}, ours


# What ns-3's program is told, and ours. Static routes are ns-3's fastest at every size.
CASES = {
    "newreno-4": newreno(4, 10, 0.01),
    "newreno-100": newreno(100, 10, 0.01),
    "newreno-1000": newreno(1000, 1, 0.0002),
    "cubic-4": cubic(4),
    "cubic-100": cubic(100),
}
ROUTING = "static"
BUILD_NOTE = (
    "ns-3: 3.44 from PyPI, which has asserts and logs compiled in; an optimised source build is 1.4 to 1.9 "
    "times faster, and the ratio to it that much smaller."
)
# A case whose counting run takes longer than this in CPU-seconds is given at most so many pairs: its spread is
# small against its length.
LONG_RUN_S, LONG_RUN_PAIRS = 20, 3
# Beyond this the two did not do the same work, and a ratio of speeds says less.
SAME_WORK = 1.25


@dataclass
class Case:
    """Measurements of one dumbbell; the two lists pair up."""

    name: str
    hops: int
    ns3: list = field(default_factory=list)
    windlass: list = field(default_factory=list)

    def add(self, ns3, windlass):
        self.ns3.append({**ns3, "packet_hops": self.hops, "hops_per_cpu_s": self.hops / ns3["cpu_s"]})
        self.windlass.append(windlass)

    def ratios(self):
        return [w["hops_per_cpu_s"] / n["hops_per_cpu_s"] for n, w in zip(self.ns3, self.windlass)]

    def summary(self):
        ratios = self.ratios()
        return {
            "name": self.name,
            "runs": len(ratios),
            "ns3": side(self.ns3),
            "windlass": side(self.windlass),
            "ratio": {"median": statistics.median(ratios), "min": min(ratios), "max": max(ratios)},
        }


def side(runs):
    """One simulator's share of a summary."""
    fixed = {key: runs[0][key] for key in ("packet_hops", "goodput_bps", "events")}
    speeds = [run["hops_per_cpu_s"] for run in runs]
    return {**fixed, "cpu_s": [run["cpu_s"] for run in runs], "hops_per_cpu_s": statistics.median(speeds)}


def run_ns3(ns3, name, count=False):
    """One run of ns-3; hops are counted only when asked for, since counting takes time."""
    arguments = {"name": name, "routing": ROUTING, "count": int(count), **CASES[name][0]}
    (line,) = run_lines([ns3, *(f"--{key}={value}" for key, value in arguments.items())])
    return line


def run_windlass(bench, name):
    """One run of our measuring program."""
    (line,) = run_lines([bench, *CASES[name][1]])
    return line


def build_windlass():
    """Path of the release build of the `windlass` command."""
    return program.build("windlass-cli")


def build_bench():
    """Path of the release build of the program that measures."""
    return program.build("windlass-scenario", "--example", "bench")


def same_simulation(count, timed):
    """ns-3 is deterministic: a timed run that differs from the counting run has other hops."""
    for key in ("events", "goodput_bps"):
        if count[key] != timed[key]:
            raise Failed(f"two runs of ns-3's {count['name']} differ in {key}: {count[key]} and {timed[key]}")


def measure(name, ns3, windlass, runs):
    """Counts, then runs both in turn."""
    print(f"{name}: counting hops in ns-3", file=sys.stderr)
    count = run_ns3(ns3, name, count=True)
    case = Case(name, count["packet_hops"])
    if count["cpu_s"] > LONG_RUN_S:
        runs = min(runs, LONG_RUN_PAIRS)
    for index in range(runs):
        print(f"{name}: pair {index + 1} of {runs}", file=sys.stderr)
        timed = run_ns3(ns3, name)
        same_simulation(count, timed)
        case.add(timed, run_windlass(windlass, name))
    return case


def table(summaries):
    """The comparison for a person."""
    head = ("case", "simulator", "packet-hops", "hops/CPU-s", "goodput Mbps", "ratio (min to max)")
    rows = [head]
    for case in summaries:
        ratio = case["ratio"]
        spread = f"{ratio['median']:.1f} ({ratio['min']:.1f} to {ratio['max']:.1f})"
        for label, last in (("ns3", ""), ("windlass", spread)):
            run = case[label]
            hops, speed = f"{run['packet_hops']:,}", f"{run['hops_per_cpu_s']:,.0f}"
            first = case["name"] if label == "ns3" else ""
            rows.append((first, label, hops, speed, f"{run['goodput_bps'] / 1e6:,.1f}", last))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    align = [str.ljust, str.ljust, str.rjust, str.rjust, str.rjust, str.rjust]
    return "\n".join("  ".join(pad(cell, width) for pad, cell, width in zip(align, row, widths)) for row in rows)


def page_table(summaries):
    """The same for the page on benchmarks."""
    head = ["case", "packet-hops, Windlass and ns-3", "million hops per CPU-second, Windlass", "ns-3", "ratio", "goodput, Windlass and ns-3 (Mbps)"]
    rows = []
    for case in summaries:
        ours, theirs, ratio = case["windlass"], case["ns3"], case["ratio"]
        spread = f"{ratio['median']:.0f}" + (f" ({ratio['min']:.0f} to {ratio['max']:.0f})" if case["runs"] > 1 else "")
        rows.append([
            f"`{case['name']}`",
            f"{ours['packet_hops']:,}, {theirs['packet_hops']:,}",
            f"{ours['hops_per_cpu_s'] / 1e6:.1f}",
            f"{theirs['hops_per_cpu_s'] / 1e6:.3f}",
            spread,
            f"{ours['goodput_bps'] / 1e6:.1f}, {theirs['goodput_bps'] / 1e6:.1f}",
        ])
    return program.markdown(head, *rows)


def differences(summaries):
    """A sentence for each quantity in which the two did not do the same work."""
    notes = []
    for case in summaries:
        for key in ("packet_hops", "goodput_bps"):
            low, high = sorted((case["ns3"][key], case["windlass"][key]))
            if high > low * SAME_WORK:
                notes.append(f"{case['name']}: {key} differs by more than {SAME_WORK - 1:.0%}; compare with care.")
    return notes


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="one pair of runs a case")
    parser.add_argument("--json", action="store_true", help="print one JSON document, not a table")
    parser.add_argument("--write", action="store_true", help="put the table into docs/src/trust/benchmarks.md, or with --case its rows")
    runs_help = "pairs of runs a case (default 5; long cases 3 at most)"
    parser.add_argument("--runs", type=int, default=5, metavar="N", help=runs_help)
    parser.add_argument("--case", choices=CASES, action="append", help="only this case (may be repeated)")
    arguments = parser.parse_args()
    if arguments.runs < 1:
        parser.error("--runs must be at least 1")
    return arguments


def compare(arguments):
    ns3 = setup.ensure()
    windlass = build_bench()
    runs = 1 if arguments.quick else arguments.runs
    summaries = [measure(name, ns3, windlass, runs).summary() for name in arguments.case or CASES]
    notes = [BUILD_NOTE, *differences(summaries)]
    if arguments.write:
        program.put_rows(PAGE, MARKS, page_table(summaries), only=arguments.case)
    if arguments.json:
        print(json.dumps({"cases": summaries, "notes": notes}, indent=2))
    else:
        print(table(summaries), *notes, sep="\n")


if __name__ == "__main__":
    sys.exit(ended(lambda: compare(parse_arguments())))
