#!/usr/bin/env python3
"""Compares Windlass's multi-hop radio and its AODV with those of ns-3 3.44.

Runs overloaded chains of 1 to 8 hops, and a grid of 10 by 10 stations of which 5 to 20 send datagrams to one near the middle. Prints
delivery ratio, hops and messages of the protocol. `--speed` compares packet-hops per CPU-second on the grid of `bench/speed grid-aodv`,
alternately. Results are kept in bench/ns3/.cache. `--quick`: one seed and a third of the cases. Exit code 0: compared; 1: something
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
from dataclasses import dataclass, replace
from pathlib import Path

import compare
import setup
from differences import BENCHMARKS, STUDENT, TRUST, aligned
from program import ended, put, put_csv
from runs import Kept, Stream

# Raised when mesh.cc or a case changes what ns-3 simulates.
NS3_VERSION = 3
NS3_RESULTS = setup.CACHE / "mesh-ns3.jsonl"
WINDLASS_RESULTS = setup.CACHE / "mesh-windlass.jsonl"
DATA = TRUST / "mesh.csv"
SPACING_M, RANGE_M, SENSE_M = 150, 180, 396
QUEUE = 30
RATE_BPS = 6_000_000  # 802.11g, for every frame: the same error model for all of them in ns-3
START_S, STAGGER_S = 1.0, 0.1
SEEDS = 3
BASE = 45
# Corners, edges and inside, so that routes have 2 to 10 hops.
SENDERS = (1, 10, 91, 100, 5, 50, 96, 41, 23, 78, 3, 8, 30, 71, 93, 98, 12, 19, 82, 89)


@dataclass(frozen=True)
class Case:
    """A network and its datagrams."""

    name: str
    rows: int
    columns: int
    flows: tuple
    payload: int
    offered_bps: int
    duration_s: int
    hello: bool = True
    survive: bool = False  # whether ns-3's own error model decides what frames survive of others

    @property
    def stop_s(self):
        return self.duration_s - 1

    def offered_packets(self):
        """As both sources send: the first packet of ns-3's comes an interval after the start."""
        interval = 8 * self.payload / self.offered_bps
        return sum((self.stop_s - START_S - STAGGER_S * i) / interval for i in range(len(self.flows)))


@dataclass(frozen=True)
class Run:
    """A case with one seed."""

    case: Case
    seed: int

    def key(self):
        return f"{self.case.name}/{self.seed}".replace(" ", "_")


def cases(quick):
    chains = [1, 2, 4] if quick else range(1, 9)
    found = [
        Case(f"chain of {n}", 1, n + 1, ((1, n + 1),), 1472, RATE_BPS, 12) for n in chains
    ]
    for senders, packets in [(10, 4)] if quick else [(5, 4), (10, 4), (20, 4)]:
        flows = tuple((sender, BASE) for sender in SENDERS[:senders])
        found.append(Case(f"grid {senders} x {packets}/s", 10, 10, flows, 512, 512 * 8 * packets, 60))
    return found + [replace(found[-1], name=f"{found[-1].name}, ns-3's errors", survive=True)]


# What scenarios/bench/grid-aodv.toml has too.
SPEED = Case("grid-aodv", 10, 10, tuple((s, BASE) for s in SENDERS[:10]), 512, 16_384, 60)
SPEED_SCENARIO = compare.ROOT / "scenarios/bench/grid-aodv.toml"
SPEED_MARKS = ("<!-- mesh-speed: written by bench/ns3/mesh.py --speed --write -->", "<!-- /mesh-speed -->")
# Beyond this difference the two did not do the same work, and it is said which.
SAME_WORK = 0.05


def ns3_line(run, counts=True):
    """A run as mesh.cc reads it."""
    case = run.case
    words = {
        "key": run.key(), "standard": "g", "rate": "ErpOfdmRate6Mbps", "rows": case.rows, "columns": case.columns,
        "spacing": SPACING_M, "range": RANGE_M, "sense": SENSE_M, "queue": QUEUE, "payload": case.payload,
        "offered": case.offered_bps, "start": START_S, "stagger": STAGGER_S, "stop": case.stop_s,
        "duration": case.duration_s, "flows": ",".join(f"{a}-{b}" for a, b in case.flows), "hello": int(case.hello),
        "survive": int(case.survive), "counts": int(counts), "seed": run.seed,
    }
    return " ".join(f"{key}={value}" for key, value in words.items())


def scenario(run):
    """A run as a scenario file of Windlass."""
    case = run.case
    lines = [
        f'duration = "{case.duration_s}s"', f"seed = {run.seed}", "[topology]", 'kind = "grid"',
        f"rows = {case.rows}", f"columns = {case.columns}", 'base = "none"', f'spacing = "{SPACING_M}m"',
        f'range = "{RANGE_M}m"', f'sense = "{SENSE_M}m"', "[topology.wireless]", 'standard = "802.11g"',
        'rate = "6Mbps"', 'control_rate = "6Mbps"', 'broadcast_rate = "6Mbps"', f'queue = "{QUEUE}pkt"',
        "eifs = false",  # as ns-3 takes a frame whose preamble it does not detect
        'routing = { protocol = "aodv", preset = "ns3" }',
    ]
    for number, (a, b) in enumerate(case.flows):
        source = f'packet = "{case.payload}B", rate = "{case.offered_bps}bps", stop = "{case.stop_s}s"'
        lines += [
            "[[flow]]", f'name = "f{number}"', f'from = "n{a}"', f'to = "n{b}"', 'algorithm = "none"',
            f'start = "{START_S + STAGGER_S * number:.1f}s"',
            f'traffic = {{ kind = "cbr", transport = "udp", {source} }}',
        ]
    return "\n".join(lines) + "\n"


def run_windlass(program, run):
    """One scenario; the result has the keys of ns-3's."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(scenario(run))
        file.flush()
        return windlass_totals(program, [file.name], run)


def windlass_totals(program, arguments, run):
    """Totals of a run of a scenario file."""
    done = subprocess.run([program, "--quiet", "run", *arguments, "--json"], capture_output=True, text=True)
    if done.returncode:
        raise compare.Failed(f"windlass could not run {run.key()}:\n{done.stderr.strip()}\n{scenario(run)}")
    result = json.loads(done.stdout)
    routing = result["cells"][0]["routing"]
    return {
        "key": run.key(),
        "received_bytes": [flow["delivered_bytes"] for flow in result["flows"]],
        "rreq": routing["rreq_originated"] + routing["rreq_forwarded"],
        "rrep": routing["rrep_originated"] + routing["rrep_forwarded"],
        "rerr": routing["rerr_sent"],
        "given_up": sum(station["drops_retry"] for station in result["cells"][0]["stations"]),
        "control_bytes": routing["control_bytes"],
        "delivered": routing["crossed"],
        "hops": sum(hops * packets for hops, packets in enumerate(routing["hops"])),
    }


def measure(arguments):
    """Results of both by key."""
    seeds = range(1, 2 if arguments.quick else SEEDS + 1)
    runs = [Run(case, seed) for seed in seeds for case in cases(arguments.quick)]
    ns3 = Kept(NS3_RESULTS, NS3_VERSION)
    if not arguments.kept:
        with Stream([setup.ensure("mesh")]) as stream:
            ns3.fill("ns-3", runs, lambda run: stream.ask(ns3_line(run)), 1)
    runs = [run for run in runs if "failed" not in ns3.done.get(run.key(), {"failed": True})]
    program = arguments.windlass or compare.build_windlass()
    version = hashlib.sha256(Path(program).read_bytes()).hexdigest()[:16]
    ours = Kept(WINDLASS_RESULTS, version)
    ours.fill("windlass", runs, lambda run: run_windlass(program, run), arguments.jobs)
    return runs, ns3.done, ours.done


def interval(values):
    """A mean with the half width of its 95 % interval (Student)."""
    if len(values) < 3:
        return f"{statistics.mean(values):.4g}"
    half = STUDENT[len(values)] * statistics.stdev(values) / math.sqrt(len(values))
    return f"{statistics.mean(values):.4g} ± {half:.2g}"


def rows(runs, ns3, ours):
    """One row a case, ns-3 and ours side by side."""
    head = ("case", "Mbps ns-3", "ours", "delivered ns-3", "ours", "hops ns-3", "ours", "RREQ ns-3", "ours",
            "RREP ns-3", "ours", "RERR ns-3", "ours", "given up ns-3", "ours")
    lines = [head]
    for case in dict.fromkeys(run.case for run in runs):
        keys = [run.key() for run in runs if run.case == case]
        pair = lambda value: [interval([value(side[key]) for key in keys]) for side in (ns3, ours)]
        mbps = lambda r: 8e-6 * sum(r["received_bytes"]) / (case.stop_s - START_S)
        ratio = lambda r: sum(r["received_bytes"]) / case.payload / case.offered_packets()
        count = lambda field: pair(lambda r: r[field])
        cells = [pair(mbps), pair(ratio), pair(lambda r: r["hops"] / max(1, r["delivered"])), count("rreq"),
                 count("rrep"), count("rerr"), count("given_up")]
        lines.append((case.name, *(text for two in cells for text in two)))
    return lines


# The columns of the file, each for both simulators and with its interval.
COLUMNS = ("mbps", "delivered", "hops", "rreq", "rrep", "rerr", "given_up")


def record(line):
    """A row of the file; docs/tables.py makes the page's summary of it."""
    names = [f"{side}_{column}" for column in COLUMNS for side in ("ns3", "windlass")]
    found = {"case": line[0]}
    for name, text in zip(names, line[1:], strict=True):
        mean, _, half = text.partition(" ± ")
        found |= {name: f"{float(mean):.10g}", f"{name}_interval": f"{float(half):.10g}" if half else ""}
    return found


def table(lines):
    """Lines as a table of Markdown."""
    head, *rest = lines
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ("---", *["---:"] * (len(head) - 1)), *rest])


def work_of(result):
    """What a simulator did of the grid's work: data packets delivered, and hops of those."""
    return sum(result["received_bytes"]) // SPEED.payload, result["hops"]


def speed(arguments):
    """The same grid in both, run in turn, with what each did of its work."""
    ns3, windlass = setup.ensure("mesh"), arguments.windlass or compare.build_windlass()
    bench, run = compare.build_bench(), Run(SPEED, 1)
    ours = windlass_totals(windlass, [str(SPEED_SCENARIO)], run)
    with Stream([ns3]) as stream:
        theirs = stream.ask(ns3_line(run))
        pairs = []
        for index in range(1 if arguments.quick else 3):
            print(f"pair {index + 1}", file=sys.stderr)
            cpu_s = stream.ask(ns3_line(run, counts=False))["cpu_s"]
            (line,) = compare.run_lines([bench, SPEED_SCENARIO])
            pairs.append((theirs["frames"] / cpu_s, line["hops_per_cpu_s"], cpu_s / line["cpu_s"]))
    result = summary([work_of(theirs), work_of(ours)], [theirs["frames"], line["packet_hops"]], pairs)
    lines = speed_rows(result)
    if arguments.json:
        print(json.dumps(result, indent=2))
    else:
        print(aligned(lines), *speed_notes(result), sep="\n")
    if arguments.write:
        put(BENCHMARKS, SPEED_MARKS, table(lines) + "\n\n" + " ".join(speed_notes(result)))


def summary(work, packet_hops, pairs):
    """Of ns-3 and of Windlass: what was done, how fast, and the ratios."""
    spread = lambda values: {"median": statistics.median(values), "min": min(values), "max": max(values)}
    sides = {}
    for side, (name, (delivered, hops)) in enumerate(zip(("ns3", "windlass"), work)):
        sides[name] = {
            "delivered": delivered, "delivered_hops": hops, "packet_hops": packet_hops[side],
            "hops_per_cpu_s": statistics.median(pair[side] for pair in pairs),
        }
    return {
        "case": SPEED.name, "pairs": len(pairs), **sides,
        "ratio": spread([ours / theirs for theirs, ours, _ in pairs]),
        "time_ratio": spread([time for *_, time in pairs]),
    }


def speed_rows(result):
    """One row a simulator."""
    head = ("grid-aodv", "packets delivered", "hops of these", "packet-hops", "packet-hops per CPU-second")
    row = lambda name, label: (label, *(f"{result[name][key]:,.0f}" for key in
                               ("delivered", "delivered_hops", "packet_hops", "hops_per_cpu_s")))
    return [head, row("ns3", "ns-3"), row("windlass", "Windlass")]


def speed_notes(result):
    """The ratios, and whether the two did the same work."""
    text = lambda spread: f"{spread['median']:.0f} ({spread['min']:.0f} to {spread['max']:.0f})"
    notes = [
        f"Ratio of packet-hops per CPU-second {text(result['ratio'])} over {result['pairs']} pairs of runs; of CPU-seconds for "
        f"the same {SPEED.duration_s} s {text(result['time_ratio'])}."
    ]
    names = {"delivered": "packets delivered", "delivered_hops": "their hops", "packet_hops": "packet-hops"}
    for key, words in names.items():
        difference = result["windlass"][key] / result["ns3"][key] - 1
        if abs(difference) > SAME_WORK:
            notes.append(f"Not the same work: Windlass has {difference:+.0%} of {words}.")
    return [*notes, compare.BUILD_NOTE]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="a third of the cases, one seed")
    parser.add_argument("--speed", action="store_true", help="packet-hops per CPU-second instead")
    parser.add_argument("--kept", action="store_true", help="compare what ns-3 has results of, running no more of it")
    parser.add_argument("--windlass", metavar="PROGRAM", help="this program, instead of building one")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="runs of Windlass at a time")
    parser.add_argument("--json", action="store_true", help="print JSON, not a table")
    parser.add_argument("--write", action="store_true", help="write docs/src/trust/mesh.csv, or with --speed the table of docs/src/trust/benchmarks.md")
    return parser.parse_args()


def compare_all(arguments):
    if arguments.speed:
        speed(arguments)
        return
    runs, ns3, ours = measure(arguments)
    lines = rows(runs, ns3, ours)
    if arguments.json:
        print(json.dumps([dict(enumerate(line)) for line in lines], indent=2))
    else:
        print(aligned(lines))
    if arguments.write:
        put_csv(DATA, [record(line) for line in lines[1:]])


if __name__ == "__main__":
    sys.exit(ended(lambda: compare_all(parse_arguments())))
