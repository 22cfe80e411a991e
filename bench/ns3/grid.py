#!/usr/bin/env python3
"""Holds Windlass's algorithms against those of ns-3 3.44 over a grid of networks.

Every algorithm that both have runs over the same link in both: one and two flows, rates of 1, 10 and 50 Mbps,
round-trip times of 20, 80 and 200 ms, queues of 0.25, 1 and 2 bandwidth-delay products, and random losses of
0, 0.1 and 1 %. The losses are the same packets in both, since both are given their numbers.

Results are kept in bench/ns3/.cache and a command that was stopped goes on where it was. Exit code 0: compared;
1: something failed; 3: skipped, since this machine lacks what it takes.
"""

import argparse
import json
import math
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import product

import setup

# Raised when validate.cc or a cell changes what ns-3 simulates: results of another version are run again.
NS3_VERSION = 1
NS3_RESULTS = setup.CACHE / "grid-ns3.jsonl"

# Identifier here -> class there.
ALGORITHMS = {
    "reno": "TcpLinuxReno",
    "newreno": "TcpNewReno",
    "bic": "TcpBic",
    "cubic": "TcpCubic",
    "highspeed": "TcpHighSpeed",
    "scalable": "TcpScalable",
    "htcp": "TcpHtcp",
    "hybla": "TcpHybla",
    "westwood": "TcpWestwoodPlus",
    "veno": "TcpVeno",
    "vegas": "TcpVegas",
    "illinois": "TcpIllinois",
    "yeah": "TcpYeah",
    "bbr": "TcpBbr",
    "ledbat": "TcpLedbat",
    "dctcp": "TcpDctcp",
}
RATES_MBPS = (1, 10, 50)
RTTS_MS = (20, 80, 200)
QUEUES_BDP = (0.25, 1, 2)
LOSSES = (0, 1e-3, 1e-2)
FLOWS = (1, 2)
SEEDS = 3
# Long enough for several periods of a Reno's saw-tooth where there is one within reach; fast links cost most.
DURATION_S = {1: 100, 10: 60, 50: 30}

MSS = 1448  # payload bytes; timestamps and headers make it 1500
PACKET = 1500
# With fewer packets waiting no loss could be followed by three duplicates on the smallest pipe, and the grid
# would compare retransmission timers there.
LEAST_QUEUE = 4
# A RED queue of ns-3 that marks from a threshold on does not mark at fewer than 3 waiting packets.
LEAST_MARK = 3


@dataclass(frozen=True)
class Cell:
    """One network and what crosses it; the algorithm apart."""

    flows: int
    rate_mbps: int
    rtt_ms: int
    queue_bdp: float
    loss: float

    def bdp(self):
        """Bandwidth-delay product, packets."""
        return self.rate_mbps * 1e6 * self.rtt_ms / 1e3 / 8 / PACKET

    def queue(self):
        """Packets that may wait, the one in transmission left out."""
        return max(LEAST_QUEUE, round(self.queue_bdp * self.bdp()))

    def duration(self):
        return DURATION_S[self.rate_mbps]

    def buffer(self):
        """Socket buffers that never limit: slow start overshoots to twice pipe and queue."""
        return max(1 << 20, 8 * math.ceil(self.bdp() * (1 + self.queue_bdp)) * PACKET)

    def seeds(self):
        """A single flow without random loss has nothing to draw; two flows average each other."""
        return range(1, SEEDS + 1) if self.flows == 1 and self.loss else range(1, 2)

    def name(self):
        return f"{self.flows}f-{self.rate_mbps}M-{self.rtt_ms}ms-{self.queue_bdp:g}bdp-{self.loss:g}"


@dataclass(frozen=True)
class Run:
    """A cell with one algorithm and one seed."""

    cell: Cell
    algorithm: str
    seed: int

    def key(self):
        return f"{self.cell.name()}/{self.algorithm}/{self.seed}"

    def starts(self):
        """Start of each flow, s: the second a little later, so that the two are not in step."""
        draw = random.Random(1000 + self.seed)
        return [0] + [round(draw.uniform(0.1, 1.1), 3) for _ in range(self.cell.flows - 1)]

    def lost(self):
        """Numbers of the packets that the wire loses: Bernoulli, the same for every algorithm."""
        if not self.cell.loss:
            return []
        draw = random.Random(self.seed)
        most = self.cell.rate_mbps * 1e6 / 8 / PACKET * self.cell.duration() * 1.05 + 100
        numbers, number = [], 0
        while True:
            number += 1 + math.floor(math.log(1 - draw.random()) / math.log1p(-self.cell.loss))
            if number > most:
                return numbers
            numbers.append(number)

    def mark(self):
        """Waiting packets from which on arrivals are marked, 0 for no marking: above C*RTT/7 (RFC 8257 section 5)."""
        if self.algorithm != "dctcp":
            return 0
        return min(max(LEAST_MARK, math.ceil(self.cell.bdp() / 7)), self.cell.queue() - 1)


def grid(quick, algorithms):
    """All runs, the cheap ones first, so that a grid cut short has something of everything."""
    if quick:
        axes = ((1,), (1, 10), (20, 80), (1,), (0, 1e-2))
    else:
        axes = (FLOWS, RATES_MBPS, RTTS_MS, QUEUES_BDP, LOSSES)
    cells = [Cell(*values) for values in product(*axes)]
    runs = [Run(cell, name, seed) for cell in cells for name in algorithms for seed in cell.seeds()]
    return sorted(runs, key=lambda run: (run.seed, run.cell.rate_mbps, run.cell.rtt_ms))


def ns3_line(run, **more):
    """A run as validate.cc reads it."""
    cell = run.cell
    words = {
        "key": run.key(),
        "algorithm": ALGORITHMS[run.algorithm],
        "duration": cell.duration(),
        "rate": cell.rate_mbps * 10**6,
        "delay": cell.rtt_ms / 2000,
        "queue": cell.queue(),
        "mss": MSS,
        "buffer": cell.buffer(),
        "seed": run.seed,
        "starts": ",".join(map(str, run.starts())),
        **more,
    }
    if run.lost():
        words["lost"] = ",".join(map(str, run.lost()))
    if run.mark():
        words["mark"] = run.mark()
    return " ".join(f"{key}={value}" for key, value in words.items())


def load(path, version):
    """Results kept so far of this version, by key."""
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
    return {line["key"]: line for line in lines if line["version"] == version}


def run_ns3(runs):
    """Results of ns-3, running what is not kept yet, one run after the other."""
    done = load(NS3_RESULTS, NS3_VERSION)
    wanted = [run for run in runs if run.key() not in done]
    if wanted:
        program = setup.ensure("validate")
        with NS3_RESULTS.open("a") as kept, Stream([program]) as stream:
            for number, run in enumerate(wanted):
                progress("ns-3", number, len(wanted), run)
                begun = time.monotonic()
                result = stream.ask(ns3_line(run))
                result |= {"version": NS3_VERSION, "wall_s": round(time.monotonic() - begun, 2)}
                done[run.key()] = result
                kept.write(json.dumps(result) + "\n")
                kept.flush()
    return {run.key(): done[run.key()] for run in runs}


class Stream:
    """A program that answers each line with a line."""

    def __init__(self, command):
        self.command = command

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def ask(self, line):
        print(line, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.command[0]} ended at the line: {line[:200]}")
        return json.loads(answer)


def progress(side, number, total, run):
    if number % 50 == 0:
        print(f"{side}: {number} of {total} runs ({run.key()})", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--algorithm", choices=ALGORITHMS, action="append")
    arguments = parser.parse_args()
    try:
        run_ns3(grid(arguments.quick, arguments.algorithm or list(ALGORITHMS)))
    except setup.Missing as missing:
        print(f"skipped: {missing}", file=sys.stderr)
        return setup.SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
