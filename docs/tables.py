#!/usr/bin/env python3
"""A preprocessor of mdBook (book.toml) that writes tables from data files into the pages, so that no page repeats a file.

A page has the line {{#table NAME}}; NAME is a function of TABLES. Without arguments, prints each table.
"""

from __future__ import annotations

import collections
import csv
import json
import pathlib
import re
import statistics
import sys

SRC = pathlib.Path(__file__).resolve().parent / "src"


def table(head: list[str], rows: list[list[object]]) -> str:
    """A Markdown table; all columns but the first have numbers."""
    line = lambda cells: "| " + " | ".join(map(str, cells)) + " |"
    return "\n".join([line(head), "| --- |" + " ---: |" * (len(head) - 1), *map(line, rows)])


def replays(coupled: bool) -> dict[tuple[str, str], list[dict]]:
    """The runs of the replay check by algorithm and host. Networks with two paths are runs of coupled algorithms."""
    found = collections.defaultdict(list)
    with open(SRC / "trust/replays.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    two_paths = {row["algorithm"] for row in rows if row["network"] in ("alike", "unlike", "shared")}
    for row in rows:
        if (row["algorithm"] in two_paths) == coupled:
            found[row["algorithm"], row["host"].split(" (")[0]].append(row)
    return found


def difference(row: dict) -> float:
    """Difference of the host's goodput from the simulated goodput, in per cent."""
    return 100 * (float(row["goodput_kbps"]) / float(row["simulated_goodput_kbps"]) - 1)


def spread(rows: list[dict]) -> str:
    """Median of the absolute differences over the networks, and the difference that is largest."""
    differences = [difference(row) for row in rows]
    return f"{statistics.median(map(abs, differences)):.1f} / {max(differences, key=abs):+.1f}" if rows else ""


def replay_table(coupled: bool) -> str:
    found = replays(coupled)
    algorithms, hosts = (list(dict.fromkeys(key[part] for key in found)) for part in (0, 1))
    short = [host.split("-cloud")[0].split("+deb")[0].split("-fc")[0] for host in hosts]
    rows = [[f"`{a}`", *(spread(found.get((a, host), [])) for host in hosts)] for a in algorithms]
    return table(["algorithm", *short], rows)


def replay_hosts() -> str:
    rows = []
    for coupled in (False, True):
        found = replays(coupled)
        for host in dict.fromkeys(key[1] for key in found):
            runs = [row for key, group in found.items() if key[1] == host for row in group]
            sizes = sorted(abs(difference(row)) for row in runs)
            unequal = sum(int(row["unequal"]) for row in runs)
            events = sum(int(row["events"]) for row in runs)
            p95 = sizes[min(len(sizes) - 1, int(0.95 * len(sizes)))]
            rows.append([host + (", coupled" if coupled else ""), len(runs), f"{events:,}", unequal, f"{statistics.median(sizes):.1f} %", f"{p95:.1f} %"])
    return table(["host stack", "runs", "events", "unequal answers", "difference, median", "95th percentile"], rows)


TABLES = {
    "replay-hosts": replay_hosts,
    "replays": lambda: replay_table(False),
    "replays-coupled": lambda: replay_table(True),
}


def filled(text: str) -> str:
    return re.sub(r"^\{\{#table ([\w-]+)\}\}$", lambda found: TABLES[found[1]](), text, flags=re.M)


def chapters(items: list) -> None:
    for item in items:
        if isinstance(item, dict) and (chapter := item.get("Chapter")):
            chapter["content"] = filled(chapter["content"])
            chapters(chapter["sub_items"])


def main() -> None:
    if sys.argv[1:2] == ["supports"]:
        return
    if sys.stdin.isatty():
        print("\n\n".join(f"{name}\n\n{make()}" for name, make in TABLES.items()))
        return
    _, book = json.load(sys.stdin)
    chapters(book.get("items") or book["sections"])
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
