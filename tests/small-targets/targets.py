"""What the checks of small targets share: the compilers, how a crate of this folder is built, and how it is linked."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SKIPPED = 3

PACKAGES = [
    "rustc-web", "libstd-rust-web-dev-bpf", "rust-web-src", "rust-web-llvm", "llvm-22", "clang-22", "lld-22", "libbpf1",
]
# Debian's compiler has its library's sources for building `core`; rustup has them behind a component.
RUSTC = Path(os.environ.get("WINDLASS_SMALL_RUSTC", "/usr/bin/rustc"))
TOOLS = Path(os.environ.get("WINDLASS_LLVM", "/usr/lib/llvm-22/bin"))
PANIC = "windlass_core_can_panic"


class Missing(Exception):
    """Something that this machine lacks."""


class Unsound(Exception):
    """What was built is not what a small target can run."""


def output(*command, **options):
    """Standard output of a command that must succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise Unsound(f"`{' '.join(map(str, command))[:300]}` failed:\n{done.stderr.strip()[-3000:]}")
    return done.stdout


def tool(name):
    path = TOOLS / name
    if not path.exists():
        raise Missing(f"{path} is missing")
    return path


def find_compiler():
    """Debian's rustc with the sources of `core`."""
    if not RUSTC.exists():
        raise Missing(f"{RUSTC} is missing")
    root = subprocess.run([RUSTC, "--print", "sysroot"], capture_output=True, text=True).stdout.strip()
    if not (Path(root) / "lib/rustlib/src/rust/library/core").exists():
        raise Missing(f"{RUSTC} has no sources of core")
    if shutil.which("cargo") is None:
        raise Missing("cargo is missing")


def target_folder():
    base = os.environ.get("CARGO_TARGET_DIR")
    return (Path(base) if base else ROOT / "target") / "small-targets"


def build(crate, target, *rustc, level="s", kind="staticlib", options=()):
    """Builds a crate of this folder for a target, `core` with it."""
    environment = os.environ | {
        "RUSTC": str(RUSTC),
        "RUSTC_BOOTSTRAP": "1",
        "CARGO_TARGET_DIR": str(target_folder()),
        "CARGO_PROFILE_RELEASE_OPT_LEVEL": str(level),
    }
    command = ["cargo", "rustc", "--quiet", "--release", "--target", target, "-Zbuild-std=core", *options]
    command += ["--crate-type", kind] if kind else []
    command += ["--", *rustc] if rustc else []
    done = subprocess.run(command, cwd=HERE / crate, env=environment, capture_output=True, text=True)
    if done.returncode:
        offline = re.search(r"failed to (download|get|fetch)|Could not (resolve|connect)", done.stderr)
        error = f"cargo could not build {crate} for {target}:\n{done.stderr.strip()[-3000:]}"
        raise Missing(error) if offline else Unsound(error)
    return target_folder() / target / "release"


def entry_points(file):
    symbols = output(tool("llvm-nm"), "--defined-only", "--extern-only", "--format=just-symbols", file).split()
    found = sorted({symbol for symbol in symbols if symbol.startswith("windlass_") and symbol != PANIC})
    if not found:
        raise Unsound(f"{file} has no entry points")
    return found


def link(target, archive, roots, out):
    """Links what the roots need; an undefined symbol is an error, a panic among them."""
    done = try_link(target, archive, roots, out)
    if PANIC in done.stderr:
        guilty = (root for root in roots if PANIC in try_link(target, archive, [root], out).stderr)
        raise Unsound(f"{target}: a panic can be reached from {', '.join(guilty)}")
    if done.returncode:
        raise Unsound(f"{target}: could not link:\n{done.stderr.strip()[-3000:]}")


def try_link(target, archive, roots, out):
    if target.startswith("wasm"):
        options = ["-flavor", "wasm", "--no-entry", *(f"--export={root}" for root in roots)]
    else:
        options = ["-flavor", "gnu", "-e", roots[0], *(word for root in roots for word in ("-u", root))]
    command = [tool("lld"), *options, "--gc-sections", archive, "-o", out]
    return subprocess.run(command, capture_output=True, text=True)


def install():
    """Installs what is missing where that is possible; what is missing afterwards skips."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    if RUSTC.exists() and all((TOOLS / name).exists() for name in ("lld", "clang")):
        return
    print(f"installing {' '.join(PACKAGES)}", flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], capture_output=True)
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *PACKAGES]
    subprocess.run(command, capture_output=True, env=environment)


@dataclass
class Algorithm:
    """One of the registry, and what is found out about it."""

    id: str
    # The word in the names of its entry points.
    entry: str
    # Bytes of one connection.
    state: int


def build_host():
    """The program that lists the algorithms and runs one through a life, on this machine."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(target_folder())}
    output("cargo", "build", "--quiet", "--release", cwd=HERE / "host-cost", env=environment)
    return target_folder() / "release/host-cost"


def list_algorithms(program):
    lines = output(program).splitlines()
    return [Algorithm(name, entry, int(state)) for name, entry, state in (line.split() for line in lines)]
