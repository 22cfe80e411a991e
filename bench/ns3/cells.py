"""The networks of the grid, as scenarios."""

import math
import random
from dataclasses import dataclass
from itertools import product


# What ns-3 has too. Ours is as ns-3's class says it is by the flavour `ns3`, which the preset brings:
# `windlass algorithms NAME` lists the differences.
ALGORITHMS = (
    "reno", "newreno", "bic", "cubic", "highspeed", "scalable", "htcp", "hybla",
    "westwood", "veno", "vegas", "illinois", "yeah", "bbr", "ledbat", "dctcp",
)
RATES_MBPS = (1, 10, 50)
RTTS_MS = (20, 80, 200)
QUEUES_BDP = (0.25, 1, 2)
LOSSES = (0, 1e-3, 1e-2)
FLOWS = (1, 2)
SEEDS = 3
# Long enough for several periods of a Reno's saw-tooth where there is one within reach; fast links cost most.
DURATION_S = {1: 100, 10: 60, 50: 30}

MSS = 1448  # payload bytes; timestamps and headers make it 1500
TIMESTAMPS = 12  # which our stack takes off the announced size (RFC 6691), and ns-3 does not
STACK = "ns3"
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
    return sorted(runs, key=lambda run: (run.cell.rate_mbps, run.seed, run.cell.rtt_ms))


def scenario(run):
    """A run as a scenario file."""
    cell = run.cell
    queue = f'"{cell.queue()}pkt"'
    if run.mark():
        # What finds more than so many packets waiting is marked.
        queue = f'{{ discipline = "threshold", limit = {queue}, mark = "{run.mark() - 1}pkt" }}'
    lines = [
        f'duration = "{cell.duration()}s"',
        f"seed = {run.seed}",
        "[stack]",
        f'preset = "{STACK}"',
        f'mss = "{MSS + TIMESTAMPS}B"',
        f'receive_buffer = "{cell.buffer()}B"',
        f'send_buffer = "{cell.buffer()}B"',
        "ecn = true" if run.mark() else "",
        "[[link]]",
        'between = ["s", "d"]',
        f'rate = "{cell.rate_mbps}Mbps"',
        f'delay = "{cell.rtt_ms // 2}ms"',
        f"queue = {queue}",
        'framing = "ppp"',
    ]
    if run.lost():
        lines.append(f'loss = {{ model = "list", packets = {run.lost()} }}')
    for number, start in enumerate(run.starts()):
        lines += ["[[flow]]", f'name = "f{number}"', 'from = "s"', 'to = "d"', f'algorithm = "{run.algorithm}"']
        lines.append(f'start = "{start}s"')
    return "\n".join(filter(None, lines)) + "\n"
