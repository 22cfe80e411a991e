"""How far two simulators are apart: per network, per algorithm and in all."""

import csv
import math
import statistics
from dataclasses import dataclass
from pathlib import Path

import setup  # noqa: F401  (says where program is)
from cells import MSS
from program import markdown, put

TRUST = Path(__file__).resolve().parents[2] / "docs/src/trust"
PAGE = TRUST / "validation-ns3.md"
RADIO_PAGE = TRUST / "validation-ns3-radio.md"
BENCHMARKS = TRUST / "benchmarks.md"
MARKS = ("<!-- grid: written by bench/ns3/grid.py --write -->", "<!-- /grid -->")

# What the comparison aims at: relative difference of goodput, median and 95th percentile.
MEDIAN_GOAL, P95_GOAL = 0.03, 0.10
# Half width of a 95 % interval of a mean in standard errors (Student), by number of values.
STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}


@dataclass
class Comparison:
    """One network with one algorithm: the results of both by seed."""

    cell: object
    algorithm: str
    ns3: list
    windlass: list

    @staticmethod
    def of(runs, ns3, windlass):
        """Groups runs that differ in their seed; what ns-3 failed at is left out."""
        groups = {}
        for run in runs:
            if "failed" not in ns3[run.key()]:
                groups.setdefault((run.cell, run.algorithm), []).append(run.key())
        return [
            Comparison(cell, algorithm, [ns3[key] for key in keys], [windlass[key] for key in keys])
            for (cell, algorithm), keys in groups.items()
        ]

    def difference(self):
        """Mean goodput of ours over that of ns-3, less one."""
        return goodput(self.windlass) / goodput(self.ns3) - 1

    def interval(self):
        """Half width of the 95 % interval of the difference, None for a single seed.

        Both have the same losses in a seed, so the differences of the pairs are what varies.
        """
        base = goodput(self.ns3)
        pairs = [(total(ours) - total(theirs)) / base for ours, theirs in zip(self.windlass, self.ns3)]
        if len(pairs) < 2:
            return None
        return STUDENT[len(pairs)] * statistics.stdev(pairs) / math.sqrt(len(pairs))

    def row(self):
        """All that is known of it, flat."""
        row = {
            "algorithm": self.algorithm,
            "flows": self.cell.flows,
            "rate_mbps": self.cell.rate_mbps,
            "rtt_ms": self.cell.rtt_ms,
            "queue_bdp": self.cell.queue_bdp,
            "loss": self.cell.loss,
            "seeds": len(self.ns3),
            "difference": self.difference(),
            "interval": self.interval(),
        }
        for label, results in (("ns3", self.ns3), ("windlass", self.windlass)):
            row |= {f"{label}_{key}": value for key, value in side(results, self.cell).items()}
        return row


def side(results, cell):
    """One simulator's means over the seeds."""
    return {
        "goodput_bps": goodput(results),
        "loss_share": statistics.mean(loss_share(result, cell) for result in results),
        "queue_pkts": statistics.mean(result["queue_pkts"] for result in results),
        "fairness": statistics.mean(jain(result["goodput_bps"]) for result in results),
        "recoveries": statistics.mean(result["recoveries"] for result in results),
        "timeouts": statistics.mean(result["timeouts"] for result in results),
    }


def total(result):
    return sum(result["goodput_bps"])


def goodput(results):
    return statistics.mean(map(total, results))


def loss_share(result, cell):
    """Data packets lost, over those lost and those that brought a segment of the goodput."""
    lost = result["dropped"] + result["lost"]
    return lost / (lost + total(result) * cell.duration() / 8 / MSS) if lost else 0


def jain(rates):
    return sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates)) if sum(rates) else 1


def quantile(values, share):
    """The least value that so large a share of them does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def summarise(comparisons):
    """One line for each algorithm, and one for all."""
    names = dict.fromkeys(one.algorithm for one in comparisons)
    lines = [line_of(name, [one for one in comparisons if one.algorithm == name]) for name in names]
    return [*lines, line_of("all", comparisons)]


def line_of(name, comparisons):
    signed = [one.difference() for one in comparisons]
    distance = list(map(abs, signed))
    return {
        "algorithm": name,
        "networks": len(comparisons),
        "signed_median": statistics.median(signed),
        "median": statistics.median(distance),
        "p95": quantile(distance, 0.95),
        "within_goal": sum(value <= P95_GOAL for value in distance) / len(distance),
        "met": statistics.median(distance) <= MEDIAN_GOAL and quantile(distance, 0.95) <= P95_GOAL,
    }


def write_csv(comparisons, path):
    rows = [one.row() for one in comparisons]
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def table(comparisons, summary):
    """Every network side by side, then the summary."""
    head = ("network", "algorithm", "Mbps ns-3", "ours", "difference", "lost ns-3", "ours", "queue ns-3", "ours")
    rows = [head]
    for one in comparisons:
        ns3, ours, interval = side(one.ns3, one.cell), side(one.windlass, one.cell), one.interval()
        spread = f" ± {interval:.1%}" if interval is not None else ""
        rows.append((
            one.cell.name(), one.algorithm, f"{ns3['goodput_bps'] / 1e6:.3f}", f"{ours['goodput_bps'] / 1e6:.3f}",
            f"{one.difference():+.1%}{spread}", f"{ns3['loss_share']:.2%}", f"{ours['loss_share']:.2%}",
            f"{ns3['queue_pkts']:.1f}", f"{ours['queue_pkts']:.1f}",
        ))
    goal = f"goal: median at most {MEDIAN_GOAL:.0%}, 95th percentile at most {P95_GOAL:.0%}"
    return "\n".join([aligned(rows), "", aligned(summary_rows(summary)), goal])


def summary_rows(summary):
    rows = [("algorithm", "networks", "signed median", "median", "95th percentile", "within 10 %")]
    for line in summary:
        shares = [f"{line[key]:.1%}" for key in ("median", "p95", "within_goal")]
        rows.append((line["algorithm"], str(line["networks"]), f"{line['signed_median']:+.1%}", *shares))
    return rows


def aligned(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def write_page(summary):
    """Puts the summary between the marks of the page."""
    put(PAGE, MARKS, markdown(*summary_rows(summary)))
