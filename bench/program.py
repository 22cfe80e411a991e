"""What the benchmarks share: building our program, reading what programs print, tables in pages, and how a script ends."""

import csv
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Exit code of a script for which the machine lacks something.
SKIPPED = 3


class Missing(Exception):
    """Something that this machine lacks; the text is one sentence for the user."""


class Failed(Exception):
    """A run or a build failed; the text is for the user."""


def run_lines(command):
    """The JSON objects that a command prints, one a line."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        raise Failed(f"`{' '.join(map(str, command))}` failed:\n{done.stderr.strip()}")
    try:
        return [json.loads(line) for line in done.stdout.splitlines() if line.strip()]
    except json.JSONDecodeError as error:
        raise Failed(f"`{' '.join(map(str, command))}` printed a line that is not JSON: {error}") from error


def build(package, *what):
    """Path of the release build of a package's program, or of what else cargo is told of it."""
    if shutil.which("cargo") is None:
        raise Missing("cargo is missing; install Rust (https://rustup.rs) to build Windlass.")
    print(f"building {package} {' '.join(what)}".rstrip(), file=sys.stderr)
    command = ["cargo", "build", "--release", "-p", package, *what, "--message-format=json"]
    built = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    if built.returncode:
        raise Failed(f"cargo could not build {package}")
    messages = map(json.loads, filter(None, built.stdout.splitlines()))
    programs = [message["executable"] for message in messages if message.get("executable")]
    if not programs:
        raise Failed(f"cargo built {package} without an executable")
    return programs[-1]


def algorithms(windlass):
    """The names of the algorithms that a program of Windlass has."""
    listed = subprocess.run([windlass, "algorithms"], check=True, capture_output=True, text=True).stdout
    section = listed.split("Algorithms\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in section.splitlines()]


def markdown(head, *rows):
    """A table whose first column is text and whose others are numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def put_csv(path, rows):
    """Writes rows, which are dictionaries with equal keys, into a file."""
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def put(page, marks, text):
    """Puts a text between two marks of a page."""
    old = page.read_text()
    block = re.compile(re.escape(marks[0]) + ".*?" + re.escape(marks[1]), re.S)
    if not block.search(old):
        raise Failed(f"{page} has no marks for the table")
    page.write_text(block.sub(lambda _: f"{marks[0]}\n\n{text}\n\n{marks[1]}", old))


def put_rows(page, marks, text, only):
    """Puts a table between two marks, or, if `only`, its rows alone among those that stand there, which are known by their first cell;
    a cell without a value (–) keeps what stood in it."""
    if only:
        rows = {row.split("|")[1]: row for row in text.splitlines()}
        known = page.read_text().partition(marks[0])[2].partition(marks[1])[0].strip().splitlines()
        for old in (row.split("|") for row in known if row.split("|")[1] in rows):
            cells = rows[old[1]].split("|")
            rows[old[1]] = "|".join(was if cell.strip() == "–" else cell for cell, was in zip(cells, old, strict=True))
        new = [row for case, row in rows.items() if all(case != old.split("|")[1] for old in known)]
        text = "\n".join([rows.get(row.split("|")[1], row) for row in known] + new)
    put(page, marks, text)


def ended(work):
    """Does the work, and returns the exit code of the script: 0, 1 with the error said, or 3 with what the machine lacks."""
    try:
        work()
    except Missing as missing:
        print(f"skipped: {missing}", file=sys.stderr)
        return SKIPPED
    except (Failed, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0
