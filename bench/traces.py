#!/usr/bin/env python3
"""Compares the simulator with a Linux kernel in virtual time over links that change.

    bench/traces.py            ten traces from the generator of scenarios/traces with other seeds; some minutes
    bench/traces.py --paths    the files of scenarios/paths with Reno, CUBIC and BBR; a quarter of an hour
    bench/traces.py --paths --lte FILE   also scenarios/cellular.toml with this recorded trace

The same transfer runs in the simulator with its Linux stack and on the kernel. Prints goodput and the difference of each, and the median of
the differences. Exit code 0: compared; 1: something failed; 3: skipped, because this machine runs no kernel in virtual time.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

from program import ROOT, Failed, Missing, ended, markdown, put

PAGE = ROOT / "docs/src/trust/validation-linux.md"
MARKS = ("<!-- traces: written by bench/traces.py --write -->", "<!-- /traces -->")
PATH_MARKS = ("<!-- paths: written by bench/traces.py --paths --write -->", "<!-- /paths -->")
# The time and the seeds of each path, because a kernel takes a second for some three megabytes.
PATHS = {"fading-wifi": ("30s", range(1, 4)), "leo": ("40s", range(1, 3)), "5g": ("40s", range(1, 3))}
ALGORITHMS = ["reno", "cubic", "bbr"]
# Of each kind in scenarios/traces so many, with these seeds, and how long a run is.
KINDS = {"cellular": (range(101, 105), 30), "satellite": (range(201, 204), 60), "low-power": (range(301, 304), 120)}

SCENARIO = """duration = "{duration}s"
[stack]
preset = "linux"
[[link]]
name = "radio"
between = ["server", "device"]
rate = {{ trace = "trace" }}
delay = "25ms"
queue = "{queue}pkt"
back = {{ rate = "1Mbps" }}
[[flow]]
name = "download"
from = "server"
to = "device"
algorithm = "{algorithm}"
"""


def generator():
    """The module that wrote the traces of the repository."""
    loader = SourceFileLoader("generate", str(ROOT / "scenarios/traces/generate"))
    module = module_from_spec(spec_from_loader("generate", loader))
    loader.exec_module(module)
    return module


def goodput(program, scenario, world, *options):
    command = [program, "--quiet", "run", str(scenario), "--on", world, "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"{' '.join(command)}:\n{done.stderr.strip()}")
    return json.loads(done.stdout)["flows"][0]["goodput_bps"]


def compare(program, world, algorithm):
    module = generator()
    known = {name: rest for name, _, *rest in module.TRACES}
    for kind, (seeds, duration) in KINDS.items():
        for seed in seeds:
            with tempfile.TemporaryDirectory() as folder:
                moments = module.opportunities(seed, *known[kind])
                Path(folder, "trace").write_text("".join(f"{ms}\n" for ms in moments))
                queue = 20 if kind == "low-power" else 100
                scenario = Path(folder, "scenario.toml")
                scenario.write_text(SCENARIO.format(duration=duration, queue=queue, algorithm=algorithm))
                kernel, simulated = (goodput(program, scenario, on) for on in (world, "sim"))
            yield compared(f"{kind} {seed}", kernel, simulated)


def compared(name, kernel, simulated):
    difference = simulated / kernel - 1
    return [name, f"{kernel / 1e3:.1f}", f"{simulated / 1e3:.1f}", f"{difference:+.1%}"], abs(difference)


def compare_paths(program, world, recorded):
    paths = [(name, ROOT / f"scenarios/paths/{name}.toml", time, seeds, []) for name, (time, seeds) in PATHS.items()]
    if recorded:
        change = ["--set", 'stack.preset="linux"', "--set", f'link.radio.rate={{ trace = "{Path(recorded).resolve()}" }}']
        paths.append((Path(recorded).name, ROOT / "scenarios/cellular.toml", "60s", range(1, 3), change))
    for name, scenario, time, seeds, change in paths:
        for algorithm in ALGORITHMS:
            options = [*change, "--set", f"duration={time}", "--set", f"flow.0.algorithm={algorithm}"]

            def one(run):
                on, seed = run
                return goodput(program, scenario, on, *options, "--seed", str(seed))

            with ThreadPoolExecutor(2) as runs:
                kernel, simulated = (statistics.mean(runs.map(one, ((on, seed) for seed in seeds))) for on in (world, "sim"))
            yield compared(f"{name}, {algorithm}", kernel, simulated)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--windlass", default=str(ROOT / "target/debug/windlass"), metavar="PROGRAM", help="the command")
    parser.add_argument("--on", default="linux-vt", metavar="WORLD", help="the kernel to hold it against")
    parser.add_argument("--algorithm", default="cubic", help="of the transfer, one that the kernel has")
    parser.add_argument("--paths", action="store_true", help="the files of scenarios/paths, whose rates, delays and losses change")
    parser.add_argument("--lte", metavar="FILE", help="with --paths: a recorded trace for scenarios/cellular.toml")
    parser.add_argument("--write", action="store_true", help="put the table into docs/src/trust/validation-linux.md")
    return parser.parse_args()


def has(program, world):
    """Whether this machine runs the world."""
    text = subprocess.run([program, "doctor"], capture_output=True, text=True).stdout
    return re.search(rf"run --on {re.escape(world)}\S*\s+yes", text) is not None


def table(arguments):
    if not has(arguments.windlass, arguments.on):
        raise Missing(f"no {arguments.on} on this machine; `windlass doctor` says what is missing")
    what, marks, found = "traces", MARKS, compare(arguments.windlass, arguments.on, arguments.algorithm)
    if arguments.paths:
        what, marks, found = "transfers", PATH_MARKS, compare_paths(arguments.windlass, arguments.on, arguments.lte)
    head = [what.removesuffix("s"), "kernel (kbit/s)", "simulator (kbit/s)", "difference"]
    rows, distances = [], []
    for row, distance in found:
        rows.append(row)
        distances.append(distance)
        print("  ".join(cell.rjust(18) for cell in row), flush=True)
    summary = f"{len(rows)} {what}: median difference {statistics.median(distances):.1%}, largest {max(distances):.1%}"
    print(summary)
    if arguments.write:
        put(PAGE, marks, f"{markdown(head, *rows)}\n\n{summary}.")


if __name__ == "__main__":
    sys.exit(ended(lambda: table(parse_arguments())))
