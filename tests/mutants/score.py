"""The kept outcomes of the mutants, and their score with its interval. Used by `run` and by docs/tables.py."""

from __future__ import annotations

import collections
import csv
import hashlib
import math
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUTCOMES, ACCEPTED = HERE / "outcomes.csv", HERE / "accepted.csv"
COLUMNS = ["part", "mutant", "code", "drawn", "now", "package", "date"]


def rows(path: Path) -> list[dict]:
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def outcomes() -> list[dict]:
    return rows(OUTCOMES)


def accepted() -> dict[tuple[str, str], str]:
    """The reason of each accepted survivor by part and mutant."""
    return {(row["part"], row["mutant"]): row["reason"] for row in rows(ACCEPTED)}


def write(kept: list[dict]) -> None:
    """Replaces the file of outcomes, sorted by part and mutant."""
    new = OUTCOMES.with_suffix(".new")
    with open(new, "w", newline="") as file:
        out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(sorted(kept, key=lambda row: (row["part"], row["mutant"])))
    new.replace(OUTCOMES)


def place(mutant: str) -> bytes:
    """The place of a mutant in the fixed random order of its part."""
    return hashlib.sha256(mutant.encode()).digest()


def at_most(k: int, n: int, p: float) -> float:
    """Probability of at most `k` of `n` successes of probability `p`."""
    return math.fsum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))


def interval(k: int, n: int, error: float = 0.05) -> tuple[float, float]:
    """The Clopper-Pearson interval of `k` of `n`, by bisection."""

    def root(below) -> float:
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if below(middle) else (low, middle)
        return low

    lower = root(lambda p: 1 - at_most(k - 1, n, p) < error / 2) if k else 0.0
    upper = root(lambda p: at_most(k, n, p) > error / 2) if k < n else 1.0
    return lower, upper


def share(k: int, n: int) -> str:
    low, high = interval(k, n)
    return f"{100 * k / n:.1f} % ({100 * low:.1f} to {100 * high:.1f})" if n else "–"


# Tests are added for survivors. The latest mutants therefore show the present tests better than the whole sample.
LAST = 40
HEAD = ["part", "tested", "found when drawn (95 % CI)", f"the latest {LAST} (95 % CI)", "found now", "accepted", "open", "unviable", "last date"]


def summary() -> list[list[object]]:
    """A row of each part: the unviable mutants are left out of the shares, and the accepted ones of the present share."""
    groups, known = collections.defaultdict(list), accepted()
    for row in outcomes():
        groups[row["part"]].append(row)
    found = []
    for part, mine in groups.items():
        viable = sorted((row for row in mine if row["drawn"] != "unviable"), key=lambda row: (row["date"], place(row["mutant"])))
        missed = [row for row in viable if row["now"] == "missed"]
        spared = sum((part, row["mutant"]) in known for row in missed)
        drawn, n = [row["drawn"] != "missed" for row in viable], len(viable)
        now = f"{100 * (n - len(missed)) / (n - spared):.1f} %" if n > spared else "–"
        last = share(sum(drawn[-LAST:]), min(n, LAST))
        found.append([part, n, share(sum(drawn), n), last, now, spared, len(missed) - spared, len(mine) - n, max(row["date"] for row in mine)[:10]])
    return found


def table() -> str:
    lines = [HEAD, *summary()]
    widths = [max(len(str(line[i])) for line in lines) for i in range(len(HEAD))]
    return "\n".join("  ".join(str(cell).ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)
