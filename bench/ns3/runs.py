"""Runs of programs, and results that an interruption leaves."""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import setup  # noqa: F401  (says where program is)
from program import Failed


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
            raise Failed(f"{self.command[0]} ended at the line: {line[:200]}")
        return json.loads(answer)


class Kept:
    """Results in a file, one a line, of one version of what makes them."""

    def __init__(self, path, version):
        self.path, self.version = path, version
        self.done = {}
        if path.exists():
            for line in path.read_text().splitlines():
                # A line cut short by an interruption is run again.
                if line.endswith("}") and (result := json.loads(line))["version"] == version:
                    self.done[result["key"]] = result

    def fill(self, label, runs, work, jobs):
        """Runs what is not kept yet; the results of all runs by key."""
        wanted = [run for run in runs if run.key() not in self.done]
        with self.path.open("a") as file, ThreadPoolExecutor(jobs) as pool:
            begun = time.monotonic()
            for number, result in enumerate(pool.map(work, wanted)):
                result |= {"version": self.version}
                self.done[result["key"]] = result
                file.write(json.dumps(result) + "\n")
                file.flush()
                if number % 50 == 0:
                    passed = time.monotonic() - begun
                    print(f"{label}: {number + 1} of {len(wanted)} runs, {passed:.0f} s", file=sys.stderr, flush=True)
        return {run.key(): self.done[run.key()] for run in runs}
