#!/usr/bin/env python3
"""Models the cost of a BlockAckReq after a lost block acknowledgement, compared with a repetition of the aggregate.

Saturated stations of 802.11n at 65 Mbps send aggregates. After a collision each station has no acknowledgement. It then contends
with a doubled window, either with the aggregate (Windlass), or with a BlockAckReq (ns-3). After the answer to the request the window is the
minimum again, and the aggregate must still be sent. The script is a pure model: it prints both throughputs next to the measured ones
in docs/src/trust/wifi-used.csv. Takes seconds, and Python only.
"""

import random
import re
import statistics
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "docs/src/trust/wifi-used.csv"
SLOT, SIFS = 9e-6, 16e-6
DIFS = SIFS + 2 * SLOT
# At 24 Mbps: 20 µs of preamble, and 32 or 24 bytes in three symbols of 4 µs.
BLOCK_ACK = REQUEST = 32e-6
PREAMBLE, RATE = 36e-6, 65e6
PAYLOAD, SUBFRAME = 1448, 1534
LEAST, MOST = 15, 1023
# Subframes that go into 5.484 ms, the longest frame.
LONGEST = int((5.484e-3 - PREAMBLE) * RATE / 8 / SUBFRAME)
SECONDS, SEEDS = 20, (1, 2, 3)


def throughput(stations, frames, asks, seed):
    """Mbps of payload: rounds of contention, each the least back-off, a frame or a collision, and the answer's time."""
    draw = random.Random(seed)
    window, asking = [LEAST] * stations, [False] * stations
    back_off = [draw.randint(0, LEAST) for _ in range(stations)]
    aggregate = PREAMBLE + frames * SUBFRAME * 8 / RATE
    now, delivered = 0.0, 0
    while now < SECONDS:
        least = min(back_off)
        senders = [i for i in range(stations) if back_off[i] == least]
        back_off = [b - least for b in back_off]
        longest = max(REQUEST if asking[i] else aggregate for i in senders)
        now += DIFS + least * SLOT + longest + SIFS + BLOCK_ACK
        alone = len(senders) == 1
        for i in senders:
            delivered += frames if alone and not asking[i] else 0
            asking[i] = asks and not alone
            window[i] = LEAST if alone else min(MOST, 2 * window[i] + 1)
            back_off[i] = draw.randint(0, window[i])
    return delivered * PAYLOAD * 8 / now / 1e6


def main():
    cell = r"n-65 udp up (\d+) st\. A-MPDU of (\d+),\d+,([\d.]+),([\d.]+),"
    print(f"{'cell':24}{'BlockAckReq':>12}{'ns-3':>8}{'again':>8}{'ours':>8}{'again':>8}{'ours':>8}")
    print(f"{'':24}{'Mbps':>12}{'':>8}{'Mbps':>8}{'':>8}{'over BlockAckReq, ns-3':>24}")
    for stations, frames, ns3, ours in re.findall(cell, DATA.read_text()):
        if stations == "1":
            continue
        n, most = int(stations), min(int(frames), LONGEST)
        asks, again = (statistics.mean(throughput(n, most, kind, seed) for seed in SEEDS) for kind in (True, False))
        ns3, ours = float(ns3), float(ours)
        print(f"{f'{stations} st. A-MPDU of {frames}':24}{asks:12.1f}{ns3:8.1f}{again:8.1f}{ours:8.1f}"
              f"{again / asks - 1:+8.1%}{ours / ns3 - 1:+8.1%}")


if __name__ == "__main__":
    main()
