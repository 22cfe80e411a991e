#!/usr/bin/env python3
"""Compares Windlass's algorithms with those of ns-3 3.44 over a grid of networks.

Every common algorithm runs over the same link in both: one and two flows, rates of 1, 10 and 50 Mbps, RTTs of 20, 80 and 200 ms,
queues of 0.25, 1 and 2 bandwidth-delay products, and random losses of 0, 0.1 and 1 %. Both lose the same packets, whose numbers they
receive.

Results are kept in bench/ns3/.cache, and an interrupted command resumes. `--quick` is a grid of eight networks. Exit code 0:
compared; 1: something failed; 3: skipped with a message, because this machine lacks a tool.
"""

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import compare
import setup
from cells import ALGORITHMS, grid, scenario
from differences import Comparison, summarise, table, write_csv, write_page
from program import ended
from runs import Kept

# Raised when network.cc, a part of it or a cell changes what ns-3 simulates: results of another version are run again.
NS3_VERSION = 2
LONGEST_CPU_S = 300
NS3_RESULTS = setup.CACHE / "grid-ns3.jsonl"
WINDLASS_RESULTS = setup.CACHE / "grid-windlass.jsonl"


def run_ns3(runs, program):
    """Results of ns-3, one run after the other."""
    kept = Kept(NS3_RESULTS, NS3_VERSION)
    return kept.fill("ns-3", runs, lambda run: run_scenario(program, run, "ns3"), 1)


def run_windlass(runs, program, jobs):
    """Results of Windlass, kept for this very program."""
    version = hashlib.sha256(Path(program).read_bytes()).hexdigest()[:16]
    kept = Kept(WINDLASS_RESULTS, version)
    return kept.fill("windlass", runs, lambda run: run_scenario(program, run, "sim"), jobs)


def limit():
    """A run of ns-3 that takes longer is given up: with thousands of segments and hundreds of holes it takes hours."""
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST_CPU_S, LONGEST_CPU_S))


def run_scenario(program, run, world):
    """One scenario in one of the two worlds, as far as it is compared."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(scenario(run))
        file.flush()
        command = [program, "--quiet", "run", file.name, "--on", world, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    if "ns-3 failed" in done.stderr:
        return {"key": run.key(), "failed": done.stderr.strip()}
    if done.returncode:
        raise compare.Failed(f"windlass could not run {run.key()}:\n{done.stderr.strip()}\n{scenario(run)[:2000]}")
    result = json.loads(done.stdout)
    (link,) = (link for link in result["links"] if link["name"].endswith("s>d"))
    flows = result["flows"]
    return {
        "key": run.key(),
        "goodput_bps": [round(flow["goodput_bps"]) for flow in flows],
        "queue_pkts": link["mean_queue_packets"],
        "dropped": link["drops_queue"],
        "lost": link["drops_error"],
        "marked": link["marks"],
        "recoveries": sum(flow["fast_retransmits"] for flow in flows),
        "timeouts": sum(flow["rto_count"] for flow in flows),
    }


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="a grid of eight networks")
    parser.add_argument("--algorithm", choices=ALGORITHMS, action="append", help="only this one (may be repeated)")
    parser.add_argument("--ns3-only", action="store_true", help="only run ns-3 and keep its results")
    parser.add_argument("--kept", action="store_true", help="compare what ns-3 has results of, running no more of it")
    parser.add_argument("--windlass", metavar="PROGRAM", help="this program, instead of building one")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="runs of Windlass at a time")
    parser.add_argument("--csv", metavar="FILE", help="write every network's line there")
    parser.add_argument("--json", action="store_true", help="print one JSON document, not a table")
    parser.add_argument("--write", action="store_true", help="put the table into docs/src/trust/validation-ns3.md")
    return parser.parse_args()


def compare_all(arguments):
    runs = grid(arguments.quick, arguments.algorithm or list(ALGORITHMS))
    if arguments.kept:
        kept = Kept(NS3_RESULTS, NS3_VERSION).done
        runs = [run for run in runs if run.key() in kept]
    setup.ensure("network")
    program = arguments.windlass or compare.build_windlass()
    ns3 = run_ns3(runs, program)
    if arguments.ns3_only:
        return
    windlass = run_windlass(runs, program, arguments.jobs)
    comparisons = Comparison.of(runs, ns3, windlass)
    if arguments.csv:
        write_csv(comparisons, arguments.csv)
    summary = summarise(comparisons)
    if arguments.json:
        print(json.dumps({"summary": summary, "cells": [one.row() for one in comparisons]}, indent=2))
    else:
        print(table(comparisons, summary))
    if arguments.write:
        write_page(summary)


if __name__ == "__main__":
    sys.exit(ended(lambda: compare_all(parse_arguments())))
