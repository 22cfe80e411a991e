"""The Wi-Fi cells of the comparison, and what each of the two simulators is told about them."""

import math
from dataclasses import dataclass

PAYLOAD = 1448  # bytes of a segment or datagram; timestamps and headers make a segment 1500
FRAME = 1520  # a datagram with 28 B of headers, 38 B of an 802.11n frame, delimiter and padding
TIMESTAMPS = 12  # which our stack takes off the announced size (RFC 6691), and ns-3 does not
BUFFER = 4 << 20  # socket buffers that never limit
USED_QUEUE = 300  # the same where aggregates must never want for packets
QUEUE = 100  # packets that a radio holds, the one in transmission included
START_S = 1.0  # by then ns-3's stations are associated
STAGGER_S = 0.1
# All frames arrive far above every threshold, so that nothing but protocol and collisions is compared; at 10 m
# ns-3's results are the same.
RADIUS_M = 2
SEEDS = 3  # whose runs come one seed after the other, so that a grid cut short has every cell


@dataclass(frozen=True)
class Rate:
    """A standard and its rates, Mbps, with ns-3's names, and how long a run of it takes."""

    standard: str
    mbps: float
    control_mbps: float
    ns3: str
    ns3_control: str
    duration_s: int


RATES = {
    "b-11": Rate("b", 11, 2, "DsssRate11Mbps", "DsssRate2Mbps", 15),
    "b-2": Rate("b", 2, 2, "DsssRate2Mbps", "DsssRate2Mbps", 20),
    "g-54": Rate("g", 54, 24, "ErpOfdmRate54Mbps", "ErpOfdmRate24Mbps", 6),
    "n-65": Rate("n", 65, 24, "HtMcs7", "ErpOfdmRate24Mbps", 6),
    "g-6": Rate("g", 6, 6, "ErpOfdmRate6Mbps", "ErpOfdmRate6Mbps", 10),
}


@dataclass(frozen=True)
class Cell:
    """One cell and what crosses it."""

    rate: str
    traffic: str  # tcp or udp
    direction: str  # up, down or both
    stations: int
    rts: bool = False
    # How stations take a collision: as mere noise (ns-3's default, which detects no preamble below 4 dB), or as
    # a frame in error, after which they wait an EIFS (the standard).
    eifs: bool = False
    frames: int = 1  # of an aggregate at most; 64 stands for what the standard allows
    minstrel: bool = False
    snr_db: float | None = None  # of every frame; otherwise nothing is lost to noise

    def used(self):
        """Whether it has anything of Wi-Fi as it is used."""
        return self.rate.startswith("n") or self.minstrel or self.snr_db is not None

    def aggregate_bytes(self):
        """Most bytes of an aggregate: of so many frames, each with its delimiter and padding."""
        return 0 if self.frames == 1 else min(65535, self.frames * FRAME)

    def name(self):
        words = [self.rate, self.traffic, self.direction, f"{self.stations} st."]
        words += ["RTS"] if self.rts else []
        words += ["EIFS"] if self.eifs else []
        words += [f"A-MPDU of {self.frames}"] if self.frames > 1 else []
        words += ["Minstrel"] if self.minstrel else []
        words += [f"{self.snr_db:g} dB"] if self.snr_db is not None else []
        return " ".join(words)

    def flows(self):
        """Whether each flow is up, in the order of their starts."""
        each = {"up": [True], "down": [False], "both": [True, False]}[self.direction]
        return [(station, up) for station in range(1, self.stations + 1) for up in each]

    def offered_bps(self):
        """Payload rate of each datagram source: together as much as the air would carry without any overhead."""
        return round(RATES[self.rate].mbps * 1e6 / len(self.flows()))


@dataclass(frozen=True)
class Run:
    """A cell with one seed."""

    cell: Cell
    seed: int

    def key(self):
        return f"{self.cell.name()}/{self.seed}".replace(" ", "_")


def grid(quick):
    """All runs, the first seed of every cell first."""
    counts = (1, 5) if quick else (1, 2, 5, 10)
    cells = []
    for rate in ("b-11", "g-54"):
        cells += [Cell(rate, "udp", "up", n) for n in counts]
        cells += [Cell(rate, "tcp", way, n) for way in ("up", "down", "both") for n in counts]
    if not quick:
        for rate in ("b-11", "g-54"):
            cells += [Cell(rate, "udp", "up", n, rts=True) for n in (1, 5, 10)]
            cells += [Cell(rate, "tcp", "up", n, rts=True) for n in (1, 10)]
            cells += [Cell(rate, "udp", "up", n, eifs=True) for n in (2, 10)]
        for rate in ("b-2", "g-6"):
            cells += [Cell(rate, traffic, "up", n) for traffic in ("udp", "tcp") for n in (1, 10)]
    seeds = range(1, 2 if quick else SEEDS + 1)
    return [Run(cell, seed) for seed in seeds for cell in cells]


def used_grid(quick):
    """Wi-Fi as it is used: aggregates by length, stations that share the air with them, and rates by signal."""
    cells = [Cell("n-65", "udp", "up", 1, frames=frames) for frames in ((1, 8, 64) if quick else (1, 2, 4, 8, 16, 64))]
    if not quick:
        cells += [Cell("n-65", "udp", "up", n, frames=frames) for n in (5, 10) for frames in (1, 8, 64)]
        cells += [Cell("n-65", "tcp", way, 1, frames=frames) for way in ("up", "down") for frames in (1, 64)]
    levels = (8, 18) if quick else (5, 8, 11, 14, 18, 22, 27)
    for rate, frames in (("g-54", 1), ("n-65", 1), ("n-65", 64)):
        cells += [Cell(rate, "udp", "up", 1, frames=frames, minstrel=True, snr_db=snr) for snr in levels]
    seeds = 1 if quick else SEEDS
    return [Run(cell, seed) for seed in range(1, seeds + 1) for cell in cells]


def ns3_line(run):
    """A run as wifi.cc reads it."""
    cell, rate = run.cell, RATES[run.cell.rate]
    words = {
        "key": run.key(),
        "standard": rate.standard,
        "rate": rate.ns3,
        "control": rate.ns3_control,
        "direction": cell.direction,
        "traffic": cell.traffic,
        "stations": cell.stations,
        "queue": QUEUE,
        "payload": PAYLOAD,
        "buffer": BUFFER,
        "radius": RADIUS_M,
        "offered": cell.offered_bps(),
        "start": START_S,
        "stagger": STAGGER_S,
        "duration": rate.duration_s,
        "rts": int(cell.rts),
        "short_preamble": 0,
        "detection": int(not cell.eifs and cell.snr_db is None),
        "seed": run.seed,
    }
    if cell.used():
        words |= {"minstrel": int(cell.minstrel), "aggregate": cell.aggregate_bytes()}
        words |= {"snr": "none" if cell.snr_db is None else cell.snr_db, "queue": USED_QUEUE}
    return " ".join(f"{key}={value}" for key, value in words.items())


def used_keys(cell):
    """What a cell has of Wi-Fi as it is used, as keys of `[[wifi]]`."""
    lines = []
    if cell.frames > 1:
        lines.append(f'aggregation = {{ max_size = "{cell.aggregate_bytes()}B" }}')
    if cell.minstrel:
        lines.append('rate_adaptation = "minstrel"')
    if cell.snr_db is not None:
        # The noise is at -93.965 dBm, and 40 dB are lost at the first metre and none after it.
        loss = 40 + 10 * 0.1 * math.log10(RADIUS_M)
        lines += [
            'loss = { model = "snr" }',
            'path_loss = { exponent = 0.1, reference = "40dB" }',
            f'power = "{cell.snr_db - 93.965 + loss:.4f}dBm"',
            'sensitivity = "-120dBm"',
            'carrier_sense = "-120dBm"',
        ]
    return lines


def scenario(run):
    """A run as a scenario file of Windlass."""
    cell, rate = run.cell, RATES[run.cell.rate]
    lines = [
        f'duration = "{rate.duration_s}s"',
        f"seed = {run.seed}",
        "[stack]",
        'preset = "ns3"',
        f'mss = "{PAYLOAD + TIMESTAMPS}B"',
        f'receive_buffer = "{BUFFER}B"',
        f'send_buffer = "{BUFFER}B"',
        "ack_limit = 1",
        "[[wifi]]",
        f'standard = "802.11{rate.standard}"',
        f'rate = "{rate.mbps}Mbps"',
        f'control_rate = "{rate.control_mbps}Mbps"',
        'access_point = "ap"',
        'stations = "s*"',
        f"count = {cell.stations}",
        f'radius = "{RADIUS_M}m"',
        f'queue = "{USED_QUEUE if cell.used() else QUEUE}pkt"',
        f'rts = "{"always" if cell.rts else "never"}"',
        "long_retry_limit = 7",  # ns-3 3.44 has one limit, 7
        f"eifs = {str(cell.eifs).lower()}",
        *used_keys(cell),
        "[[link]]",
        'between = ["ap", "server"]',
        'rate = "1Gbps"',
        'delay = "1ms"',
        'queue = "unlimited"',
    ]
    for number, (station, up) in enumerate(cell.flows()):
        ends = (f"s{station}", "server") if up else ("server", f"s{station}")
        lines += ["[[flow]]", f'name = "f{number}"', f'from = "{ends[0]}"', f'to = "{ends[1]}"']
        lines += [f'start = "{START_S + STAGGER_S * number:.1f}s"']
        if cell.traffic == "tcp":
            lines += ['algorithm = "newreno"']
        else:
            source = f'kind = "cbr", transport = "udp", packet = "{PAYLOAD}B", rate = "{cell.offered_bps()}bps"'
            lines += [f"traffic = {{ {source} }}"]
    return "\n".join(lines) + "\n"
