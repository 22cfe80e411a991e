"""Programs that benchmarks run: building ours, and reading what they print."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


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
