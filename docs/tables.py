#!/usr/bin/env python3
"""A preprocessor of mdBook (book.toml) that writes generated text into the pages, so that no page repeats a file or the code.

  {{#table NAME}}      a table from data files; NAME is a function of TABLES
  {{#windlass WORDS}}  the output of a command of Windlass: the program WINDLASS_PROGRAM, or the one that cargo builds

Each directive is a line of a page. Without arguments, prints each table.
"""

from __future__ import annotations

import collections
import csv
import functools
import json
import math
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys

SRC = pathlib.Path(__file__).resolve().parent / "src"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SRC.parents[1] / "requirements"))
import ledger  # noqa: E402 (a folder of its own)

sys.path.insert(0, str(SRC.parents[1] / "tests/mutants"))
import score  # noqa: E402 (a folder of its own)


def table(head: list[str], rows: list[list[object]]) -> str:
    """A Markdown table; all columns but the first have numbers."""
    line = lambda cells: "| " + " | ".join(map(str, cells)) + " |"
    return "\n".join([line(head), "| --- |" + " ---: |" * (len(head) - 1), *map(line, rows)])


def data(name: str, **only: str) -> list[dict]:
    """The rows of a data file in docs/src that have these values."""
    with open(SRC / name, newline="") as file:
        return [row for row in csv.DictReader(file) if all(row[column] == value for column, value in only.items())]


def replays(coupled: bool) -> dict[tuple[str, str], list[dict]]:
    """The runs of the replay check by algorithm and host. Networks with two paths are runs of coupled algorithms."""
    found = collections.defaultdict(list)
    rows = data("trust/replays.csv")
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


def wifi(name: str) -> str:
    """Differences of goodput by standard, traffic and use of the channel; the files are from bench/ns3/wifi.py."""
    groups = collections.defaultdict(list)
    for row in data(f"trust/{name}"):
        standard, traffic, way, cell = row["cell"].split(" ", 3)
        label = f"802.11{standard.replace('-', ', ')} Mbps, {traffic.upper()} {way.replace('both', 'up and down')}"
        label += "".join(f", {use}" for use in ("A-MPDU", "Minstrel") if use in cell)
        groups[label].append((float(row["difference_percent"]), f"{row['difference_percent']} ± {row['interval_percent']}", cell))
    rows = []
    for label, found in groups.items():
        largest = max(found, key=lambda cell: abs(cell[0]))
        rows.append([label, len(found), f"{statistics.median(abs(cell[0]) for cell in found):.1f}", *largest[1:]])
    return table(["cells", "number", "median (%)", "largest (%)", "cell with the largest"], rows)


def mesh() -> str:
    """Delivery and route requests of both simulators; the file is from bench/ns3/mesh.py."""
    cell = lambda row, key, unit, form: " ± ".join(f"{float(row[name]) * unit:{form}}" for name in (key, f"{key}_interval") if row[name])
    columns = [(f"{side}_{name}", *form) for name, *form in (("delivered", 100, ".1f"), ("rreq", 1, ",.0f")) for side in ("ns3", "windlass")]
    rows = [[row["case"], *(cell(row, *column) for column in columns)] for row in data("trust/mesh.csv")]
    return table(["case", "delivered, ns-3 (%)", "Windlass (%)", "requests, ns-3", "Windlass"], rows)


def assessed() -> str:
    """A sign for the grade of each algorithm and family; the file is from docs/assess-all."""
    grades = {(row["algorithm"], row["family"]): GRADES.get(row["grade"], "–") for row in data("trust/assessed.csv")}
    algorithms, families = (list(dict.fromkeys(key[part] for key in grades)) for part in (0, 1))
    return table(["", *families], [[f"`{a}`", *(grades[a, f] for f in families)] for a in algorithms]).replace("---:", ":---:")


def assessed_families() -> str:
    """Number of algorithms by grade for each family."""
    groups = collections.defaultdict(collections.Counter)
    for row in data("trust/assessed.csv"):
        groups[row["family"], row["title"], row["section"]][row["grade"]] += 1
    rows = [[f"`{f}`: {title}", section, *(count[grade] for grade in GRADES)] for (f, title, section), count in groups.items()]
    return table(["family", "section", *(f"{sign} {grade}" for grade, sign in GRADES.items())], rows)


def stacks_lossy() -> str:
    """Time of an upload by sender and loss; the file is from integrations/stacks/check."""
    found = collections.defaultdict(dict)
    for row in data("guides/other-stacks-lossy.csv"):
        found[row["sender"]][row["loss_percent"]] = f"{row['median_s']} ({row['low_s']} to {row['high_s']})"
    losses = list(next(iter(found.values())))
    return table(["sender", *(f"{loss} % loss" for loss in losses)], [[sender, *cells.values()] for sender, cells in found.items()])


def stacks_scripts() -> str:
    """Scripts that each stack passes, by their source; sources of fewer than four scripts together."""
    rows = data("guides/other-stacks-scripts.csv")
    origin = {row["script"]: " ".join(row["source"].split()[: 1 if row["source"].startswith("Linux") else 2]).rstrip(",") for row in rows}
    size = collections.Counter(origin.values())
    names = [*sorted((name for name in size if size[name] > 3), key=lambda name: -size[name]), "other RFCs", "all"]
    total, passed = collections.Counter(), collections.Counter()
    stacks = list(dict.fromkeys(f"{row['stack']}, {row['variant']}" for row in rows))
    for row in rows:
        stack = f"{row['stack']}, {row['variant']}"
        for name in (origin[row["script"]] if size[origin[row["script"]]] > 3 else "other RFCs", "all"):
            total[name] += stack == stacks[0]
            passed[name, stack] += not row["first_difference"]
    return table(["source", "scripts", *stacks], [[name, total[name], *(passed[name, stack] for stack in stacks)] for name in names])


def fuzzing() -> str:
    """Totals of the fuzz targets; the file is from fuzz/run."""
    with open(SRC.parents[1] / "fuzz/totals.csv", newline="") as file:
        found = list(csv.DictReader(file))
    counts = ["executions", "edges", "features", "corpus_files", "findings"]
    rows = [[f"`{row['target']}`", *(f"{int(row[column]):,}" for column in counts), row["date"]] for row in found]
    total = lambda column: f"{sum(int(row[column]) for row in found):,}"
    rows.append(["all", total("executions"), "", "", total("corpus_files"), total("findings"), max(row["date"] for row in found)])
    return table(["target", "executions", "edges", "features", "inputs in the corpus", "findings", "last run"], rows)


def abstract(paper: str) -> str:
    """The claims of an abstract with their verdicts, and the runs behind them; the files are from tests/verdicts/evidence."""
    rows = [[row["claim"].replace("|", "\\|"), row["verdict"], row["evidence"].replace("|", "\\|")] for row in data("studies/evidence/abstract.csv", paper=paper)]
    made = data("studies/evidence/papers.csv", paper=paper)[0]
    commands = ", ".join(f"`{command}`" for command in made["commands"].split("; "))
    readings = ""
    if made["interpretations"] != "0":
        readings = f" {made['interpretations']} interpretations were run." + (f" The budget left out {made['left_out']}." if made["left_out"] not in ("", "0") else "")
    text = table(["claim of the abstract", "verdict", "evidence"], rows).replace("---:", "---")
    return f"{text}\n\nCommands: {commands}.{readings}"


def verdicts() -> str:
    """Statements of each paper by final verdict."""
    rows = []
    for paper in PAPERS:
        by = collections.Counter(row["verdict"] for row in data("studies/evidence/statements.csv", paper=paper, basis="measured"))
        rows.append([f"`{paper}`", by.total(), *(by[verdict] or "" for verdict in VERDICTS)])
    return table(["paper", "measured statements", *VERDICTS], rows)


def calibration() -> str:
    """The rows of both kernels that show the accuracy of emulated links."""
    shown = ["one-way delay, median", "one-way delay, 99th percentile", "one-way delay, maximum", "rate", "emulator's lateness, 99th percentile"]
    picked = [row for row in data("inside/calibration.csv") if row["quantity"] in shown]
    cells = [[("live" if row["kernel"].startswith("6.18") else "virtual time") + ": " + row["quantity"], *list(row.values())[2:]] for row in picked]
    return table(["", *list(picked[0])[2:]], cells)


def pivot(name: str, row: str, across: str, values: list[str], **only: str) -> str:
    """One line for each value of the column `row`, with the columns `values` for each value of the column `across`."""
    found = data(name, **only)
    lines, columns = (list(dict.fromkeys(each[key] for each in found)) for key in (row, across))
    cell = {(each[row], each[across], value): each[value] for each in found for value in values}
    heads = [f"{column}: {value}" for value in values for column in columns]
    return table([row, *heads], [[line, *(cell.get((line, column, value), "") for value in values for column in columns)] for line in lines])


def l4s() -> str:
    """The published value and ours of each quantity, by the RTTs of both flows; the file is from docs/l4s."""
    rows = data("trust/l4s.csv")
    shown = [name for name in rows[0] if f"published {name}" in rows[0]]
    flows = lambda row: f"{row['prague RTT, ms']} ms, {row['classic']} {row['classic RTT, ms']} ms"
    cells = [[flows(row), *(f"{row[f'published {name}']} / {row[name]}" for name in shown)] for row in rows]
    return table(["Prague, classic flow", *shown], cells)


def coap_meter() -> str:
    """The rows with packet losses: plain 802.15.4 with a competing upload."""
    found = [list(row.values())[2:] for row in data("studies/coap-meter.csv", **{"radio": "802.15.4", "competing flow": "upload"})]
    return table(["protocol and timer", "median delay, ms", "95th percentile", "late, %", "energy, mJ/B", "radio time"], found)


def requirements_summary() -> str:
    """Number of requirements of each RFC by status."""
    known, places = ledger.rfcs()[0], ledger.scan()[0]
    count = [(f"[RFC {rfc.number}](#rfc-{rfc.number})", rfc.title, ledger.counts(rfc, places)) for rfc in known]
    count.append(("all", "", sum((numbers for *_, numbers in count), collections.Counter())))
    rows = [[name, title, *(numbers[key] for key in ("all", "implemented", "tested", "deliberate", "open"))] for name, title, numbers in count]
    return table(["RFC", "title", "requirements", "with code", "with a test", "deliberately not", "open"], rows).replace("| ---: |", "| --- |", 1)


def requirements() -> str:
    """A section for each RFC, with a line for each requirement."""
    known, places = ledger.rfcs()[0], ledger.scan()[0]
    short = lambda path: re.sub(r"^(?:core|lab|linux)/windlass-|^conformance/|(?<=/)src/", "", path)
    where = lambda r, test: "<br>".join(dict.fromkeys(f"`{short(p.path)}`" + (f" `{p.name}`" if p.path.endswith(".rs") else "") for p in places if p.id == r.id and p.test == test))
    remark = {"deliberate": "Deliberately not: ", "open": "Open: ", "implemented": ""}
    sections = []
    for rfc in known:
        rows = [[r.id.removeprefix(f"{rfc.number}-"), r.level, r.says, where(r, False), where(r, True), remark[r.status] * bool(r.remark) + r.remark] for r in rfc.requirements]
        sections.append(f"## RFC {rfc.number}\n\n{rfc.title}.\n\n" + table(["section and number", "level", "requirement", "code", "test", "exception"], rows).replace("---:", "---"))
    return "\n\n".join(sections)


def contracts(signal: str) -> dict[str, dict[str, float]]:
    """The medians of each algorithm by value of the signal; the file is from docs/contracts."""
    found = collections.defaultdict(dict)
    for row in data("trust/contracts.csv", signal=signal):
        found[row["algorithm"]][row["value"]] = float(row["median"])
    return found


def capped(signal: str, rate: float, share: float = 0.9) -> bool:
    """True if a rate in Mbit/s is above this share of the payload that the link can carry."""
    return rate > share * CAPACITY[signal] * 1448 / 1500


def contract_rates(signal: str, values: list[str], curve: dict[str, float]) -> list[str]:
    return ["cap" if capped(signal, curve[value]) else f"{curve[value]:.2g}" for value in values]


def exponent(curve: dict[str, float], low: float, high: float) -> str:
    """Slope of the line of least squares through the logarithms, if the link limits no rate."""
    points = [(math.log(float(p)), math.log(rate)) for p, rate in curve.items() if low <= float(p) <= 1.01 * high]
    if any(capped("loss", math.exp(rate), 0.7) for _, rate in points):
        return "cap"
    mean_p, mean_rate = (statistics.fmean(axis) for axis in zip(*points))
    slope = sum((p - mean_p) * (rate - mean_rate) for p, rate in points) / sum((p - mean_p) ** 2 for p, _ in points)
    return f"{slope:+.2f}".replace("-", "−")


def contracts_loss() -> str:
    """Exponents and rates against losses, and rates against marks."""
    shown, marks = ["0.001", "0.01", "0.1"], contracts("marks")
    rows = []
    for algorithm, curve in contracts("loss").items():
        reacts = not all(capped("marks", rate) for rate in marks[algorithm].values())
        marked = contract_rates("marks", shown, marks[algorithm]) if reacts else ["no reaction", "", ""]
        slopes = [exponent(curve, low, 10 * low) for low in (1e-4, 3e-4, 1e-3)]
        rows.append([f"`{algorithm}`", *slopes, *contract_rates("loss", shown, curve), *marked])
    percent = lambda what: [f"Mbit/s with {what} of {float(p) * 100:g} %" for p in shown]
    slopes = [f"exponent, losses of {p} %" for p in ("0.01 to 0.1", "0.03 to 0.3", "0.1 to 1")]
    return table(["algorithm", *slopes, *percent("losses"), *percent("marks")], rows)


def contracts_delay() -> str:
    """Rates against delays, and the least jitter and shift at which one of two flows starves."""
    shown, pairs = ["10ms", "40ms", "160ms"], contracts("jitter")
    rows = []
    for algorithm, curve in contracts("delay").items():
        ratios = [(*value.split(), max(ratio, 1 / ratio)) for value, ratio in pairs[algorithm].items()]
        starves = [(kind, f"{ms[:-2]} ms ({ratio:.3g})") for kind, ms, ratio in ratios if ratio > STARVED]
        unaided = ratios[0][-1] > STARVED
        least = [next((cell for kind, cell in starves if unaided or kind == wanted), "none") for wanted in ("jitter", "shift")]
        rows.append([f"`{algorithm}`", *contract_rates("delay", shown, curve), *least])
    heads = [f"Mbit/s with a delay of {d[:-2]} ms" for d in shown]
    return table(["algorithm", *heads, "starves from a jitter of (ratio)", "from a shift of (ratio)"], rows)


def contracts_forms() -> str:
    """Measured rates next to closed forms: segments per RTT of 100 ms for losses and marks, segments in the delay for delays."""
    forms = [
        ("loss", "newreno", "0.001", "√(3/(2p)), Mathis et al. 1997", [math.sqrt(1500)]),
        ("loss", "cubic", "0.0001", "RFC 9438, section 5.1, equation 6", [1.054 * 1e3**0.75]),
        ("loss", "highspeed", "0.0003", "0.12/p^0.835, RFC 3649, section 5", [0.12 / 0.0003**0.835]),
        ("loss", "scalable", "0.001", "0.08/p: growth of 0.01 per segment, reduction by 1/8", [80]),
        ("loss", "veno", "0.001", "√(9/(2p)): Reno with a reduction by 1/5", [math.sqrt(4500)]),
        ("loss", "hybla", "0.001", "ρ √(3/(2p)), ρ = 100 ms/25 ms", [4 * math.sqrt(1500)]),
        ("loss", "illinois", "0.001", "√(75/p): growth of 10 segments, reduction by 1/8", [math.sqrt(75000)]),
        ("marks", "dctcp", "0.03", "2/p: growth of 1 segment, reduction by p/2", [2 / 0.03]),
        ("marks", "prague", "0.03", "(1 − p + √((1 − p)² + 2(1 − p)))/p: growth also after a reduction", [(0.97 + math.sqrt(0.97**2 + 2 * 0.97)) / 0.03]),
        ("delay", "vegas", "20ms", "α = 1 to β = 3 segments in the delay", [1, 3]),
        ("delay", "mvegas", "20ms", "3 to 6 segments", [3, 6]),
        ("delay", "wvegas", "80ms", "10 segments", [10]),
        ("delay", "fast", "160ms", "100 segments", [100]),
    ]
    rows = []
    for signal, algorithm, value, form, segments in forms:
        (found,) = data("trust/contracts.csv", signal=signal, algorithm=algorithm, value=value)
        seconds = float(value[:-2]) / 1e3 if signal == "delay" else 0.1
        expected = [n * 1448 * 8 / seconds / 1e6 for n in segments]
        median = float(found["median"])
        off = f"{100 * (median / expected[0] - 1):+.0f} %" if len(expected) == 1 else "inside" if expected[0] <= median <= expected[1] else "outside"
        at = f"delay of {value[:-2]} ms" if signal == "delay" else f"{signal} of {float(value) * 100:g} %".replace("loss ", "losses ")
        cells = " to ".join(f"{rate:.3g}" for rate in expected)
        rows.append([f"`{algorithm}`, {at}", form, cells, f"{median:.3g} ({float(found['low']):.3g} to {float(found['high']):.3g})", off.replace("-", "−")])
    return table(["algorithm and signal", "closed form", "Mbit/s", "measured", "difference"], rows).replace("---:", "---", 1)


def platforms() -> str:
    """Cases with the same bytes on all platforms."""
    rows = [[f"`{row['case']}`", row["parts"], f"{int(row['bytes']):,}", row["aarch64"], row["wasm32"]] for row in data("trust/platforms.csv")]
    return table(["case", "files or results", "bytes", "aarch64", "WebAssembly"], rows)


def faults() -> str:
    """Faults of a sweep, with the peak memory of a process."""
    count = lambda row: f"{int(row['disturbances']):,} {row['unit']}" if row["unit"] else ""
    rows = [[row["fault"], count(row), row["outcome"], row["peak_mb"], row["seconds"]] for row in data("trust/faults.csv")]
    return table(["fault", "disturbances", "results", "peak memory, MB", "time, s"], rows)


PAPERS = ["reno-ber", "tcp-modified", "ccm-ss", "mfvl", "cocoa3plus"]
VERDICTS = ["reproduced", "same direction", "contradicted", "depends on the interpretation", "undecided", "not run", "not comparable"]
# Rates of the links of scenarios/sweeps/contract-*.toml, Mbit/s, and the ratio of two rates that counts as starvation.
CAPACITY = {"loss": 50, "marks": 50, "delay": 10}
STARVED = 10
GRADES = {"pass": "✓", "concern": "!", "fail": "✗", "undecided": "?"}
TABLES = {
    "verdicts": verdicts,
    **{f"abstract-{paper}": functools.partial(abstract, paper) for paper in PAPERS},
    "replay-hosts": replay_hosts,
    "replays": lambda: replay_table(False),
    "replays-coupled": lambda: replay_table(True),
    "wifi": lambda: wifi("wifi.csv"),
    "wifi-used": lambda: wifi("wifi-used.csv"),
    "mesh": mesh,
    "assessed": assessed,
    "assessed-families": assessed_families,
    "contracts-loss": contracts_loss,
    "contracts-delay": contracts_delay,
    "contracts-forms": contracts_forms,
    "stacks-lossy": stacks_lossy,
    "stacks-scripts": stacks_scripts,
    "calibration": calibration,
    "timers-closed-loop": lambda: pivot("studies/timers-closed-loop.csv", "timer", "network", ["goodput, kbit/s", "timeouts per minute"]),
    "timers-replay": lambda: pivot("studies/timers-replay.csv", "timer", "network", ["spurious, % of segments", "off the optimum, %"]),
    "slow-starts": lambda: pivot("studies/slow-starts.csv", "slow start", "path", ["retransmitted, % of BDP"]),
    "slow-starts-full": lambda: pivot("studies/slow-starts.csv", "slow start", "path", ["full rate, RTTs"]),
    "slow-starts-exit": lambda: pivot("studies/slow-starts.csv", "slow start", "path", ["early exit, doublings", "late exit, doublings"]),
    "patient-ward": lambda: pivot("studies/patient-ward.csv", "algorithm and timer", "waveforms", ["late alarms, %", "timeouts"]),
    "low-power-ward": lambda: pivot("studies/low-power-ward.csv", "algorithm and timer", "radio", ["late alarms, %", "timeouts"]),
    "low-power-meter": lambda: pivot("studies/low-power-meter.csv", "algorithm and timer", "radio", ["late messages, %", "upload, kbit/s"]),
    "l4s": l4s,
    "coap-meter": coap_meter,
    "platforms": platforms,
    "faults": faults,
    "requirements-summary": requirements_summary,
    "requirements": requirements,
    "mutants": lambda: table(score.HEAD, score.summary()),
    "fuzzing": fuzzing,
}


@functools.cache
def windlass(words: str) -> str:
    program = os.environ.get("WINDLASS_PROGRAM")
    command = [*([program] if program else ["cargo", "run", "-q", "-p", "windlass-cli", "--"]), *shlex.split(words)]
    return subprocess.run(command, cwd=SRC.parents[1], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def filled(text: str) -> str:
    """The text of a page with the output of each directive."""
    make = {"table": lambda name: TABLES[name](), "windlass": windlass}
    return re.sub(r"^\{\{#(table|windlass) ([^}]+)\}\}$", lambda found: make[found[1]](found[2]), text, flags=re.M)


def chapters(items: list) -> None:
    for item in items:
        if isinstance(item, dict) and (chapter := item.get("Chapter")):
            chapter["content"] = filled(chapter["content"])
            chapters(chapter["sub_items"])


def main() -> None:
    if sys.argv[1:2] == ["supports"]:
        return
    if not sys.argv[1:] and sys.stdin.isatty():
        print("\n\n".join(f"{name}\n\n{make()}" for name, make in TABLES.items()))
        return
    _, book = json.load(sys.stdin)
    chapters(book.get("items") or book["sections"])
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
