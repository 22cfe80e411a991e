#!/usr/bin/env python3
"""Fetches ns-3 3.44 from PyPI into bench/ns3/.cache and builds a program of this folder against it.

    bench/ns3/setup.py [NAME] [--tree FOLDER]    NAME is the program [default: dumbbell]

Prints the path of the program. --tree takes another ns-3, of release 3.44 or later: a source tree after `./ns3 build`, or the prefix
of an installation. The command uses such a program by WINDLASS_NS3_PROGRAM. Exit code 3 and one sentence on standard error when
something is missing: Linux on x86-64, pip, g++ 11 or the network.
"""

import argparse
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from program import SKIPPED, Missing  # noqa: E402
CACHE = HERE / ".cache"

PACKAGE = "ns3==3.44.post0"
# The libraries are the same whatever the Python; one wheel keeps the measurement the same too.
WHEEL = "ns3-3.44.post0-cp311-cp311-manylinux_2_28_x86_64.whl"
WHEEL_SHA256 = "2a98479a4a3a1bb819b95ce061871a9d068268b42351b8f0ef598160939ba7ce"
WHEEL_TAGS = ["--python-version", "3.11", "--implementation", "cp", "--platform", "manylinux_2_28_x86_64"]

OLDEST_GXX = 11
FLAGS = ["-std=c++20", "-O3", "-Wall", "-Wextra"]
CHECKS = ["-DNS3_LOG_ENABLE", "-DNS3_ASSERT_ENABLE"]
# Headers must be read as the libraries were compiled: by the last part of the libraries' names.
DEFINES = {
    "": ["-DNS3_BUILD_PROFILE_RELEASE"],
    "-optimized": ["-DNS3_BUILD_PROFILE_OPTIMIZED"],
    "-default": ["-DNS3_BUILD_PROFILE_DEBUG", *CHECKS],
    "-debug": ["-DNS3_BUILD_PROFILE_DEBUG", *CHECKS],
}
MODULES = [
    "applications", "internet-apps", "internet", "traffic-control", "point-to-point",
    "nix-vector-routing", "bridge", "network", "stats", "core",
]
# What single programs need beside these, before them in the order of linking.
WIFI = ["wifi", "spectrum", "antenna", "propagation", "mobility", "energy"]
LOWPAN = ["lr-wpan", "spectrum", "antenna", "propagation", "mobility"]
MORE_MODULES = {"wifi": WIFI, "mesh": ["aodv", *WIFI], "lowpan": LOWPAN}


@dataclass(frozen=True)
class Ns3:
    """The headers and libraries of an ns-3. A library is libns3PARTS-MODULESUFFIX.so, with the release in PARTS."""

    include: Path
    libraries: Path
    release: str
    suffix: str
    defines: tuple


def ensure(name="dumbbell", tree=None):
    """Path of the program built from NAME.cc, fetching and building what is not there yet.

    Raises Missing when the machine lacks something.
    """
    return build(find_compiler(), fetch() if tree is None else installed(tree), HERE / f"{name}.cc")


def installed(folder):
    """The ns-3 of a built source tree, or of an installation with this prefix."""
    folder = Path(folder).resolve()
    for top in (folder / "build", folder):
        for libraries in (top / "lib", top / "lib64", *sorted(top.glob("lib/*-linux-gnu"))):
            for core in sorted(libraries.glob("libns3*-core*.so")):
                found = re.fullmatch(r"libns(3[\w.]*(?:-dev)?)-core(-\w+)?\.so", core.name)
                if found and (top / "include/ns3/core-module.h").exists():
                    suffix = found[2] or ""
                    return Ns3(top / "include", libraries, found[1], suffix, tuple(DEFINES.get(suffix, DEFINES[""])))
    raise Missing(f"{folder} has no ns-3: no lib/libns3*-core*.so with include/ns3; run `./ns3 build` in its source tree.")


def fetch():
    """The ns-3 of PyPI, fetched and unpacked unless it is there."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise Missing(
            f"PyPI has ns-3 3.44 for Linux on x86-64 only, and this is {platform.system()} on {platform.machine()}."
        )
    CACHE.mkdir(exist_ok=True)
    folder = unpack(download())
    # The wheel was compiled with logs and asserts on.
    return Ns3(folder / "include", folder / "lib64", "3.44", "", (*DEFINES[""], *CHECKS))


def find_compiler():
    """Name of the C++ compiler: $CXX, otherwise g++."""
    compiler = os.environ.get("CXX", "g++")
    if shutil.which(compiler) is None:
        raise Missing(f"The compiler {compiler} is missing; install g++ {OLDEST_GXX} or later, or name one in CXX.")
    version = subprocess.run([compiler, "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    major = re.match(r"\d+", version)
    # A compiler that does not answer as g++ does (clang) is tried as it is.
    if major and int(major.group()) < OLDEST_GXX:
        raise Missing(f"{compiler} is version {version}, and ns-3 3.44 needs g++ {OLDEST_GXX} or later.")
    return compiler


def download():
    """Path of the wheel, fetched with pip unless it is there, its digest checked."""
    wheel = CACHE / WHEEL
    if not wheel.exists():
        if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode:
            raise Missing(f"{sys.executable} has no pip; install it (Debian: apt install python3-pip) to fetch ns-3.")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary=:all:", *WHEEL_TAGS, "--dest", str(CACHE), PACKAGE]
        print("fetching ns-3 3.44 from PyPI (69 MB)", file=sys.stderr)
        fetched = subprocess.run(command, capture_output=True, text=True)
        if fetched.returncode or not wheel.exists():
            reason = (fetched.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise Missing(f"pip could not fetch {PACKAGE}; is the network (PyPI) reachable? pip says: {reason}")
    if hashlib.sha256(wheel.read_bytes()).hexdigest() != WHEEL_SHA256:
        raise Missing(f"{wheel} is not the wheel that PyPI published (SHA-256 differs); delete it and try again.")
    return wheel


def unpack(wheel):
    """Folder with ns-3's include/ and lib64/, unpacked whole or not at all."""
    target = CACHE / wheel.stem
    if not target.exists():
        print("unpacking ns-3", file=sys.stderr)
        partial = CACHE / (wheel.stem + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(partial)
        partial.rename(target)
    return target / "ns3"


def build(compiler, ns3, source, more=()):
    """Path of the program, compiled again only when its sources, flags or compiler change.

    `more` are headers, sources and static libraries that go into it. Its own headers are in a folder of its name.
    """
    own = sorted((source.parent / source.stem).glob("*.h"))
    # g++ is called directly since the wheel's CMake files name libraries of the machine that built it.
    folders = dict.fromkeys(f"-I{file.parent}" for file in more if file.suffix == ".h")
    linked = [*folders, *(str(file) for file in more if file.suffix != ".h")]
    # The compiler knows its own folder, and does not find its C headers if the folder is named.
    headers = [] if ns3.include == Path("/usr/include") else ["-isystem", str(ns3.include)]
    command = [compiler, *FLAGS, *ns3.defines, *headers, str(source), *linked, f"-L{ns3.libraries}"]
    command += [f"-Wl,-rpath,{ns3.libraries}", "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined"]
    command += [f"-lns{ns3.release}-{module}{ns3.suffix}" for module in [*MORE_MODULES.get(source.stem, []), *MODULES]]
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
    digests = [hashlib.sha256(file.read_bytes()).hexdigest() for file in [*own, *more]]
    words = [version, *command, source.read_text(), *digests]
    key = hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]
    CACHE.mkdir(exist_ok=True)
    program = CACHE / f"{source.stem}-{key}"
    if not program.exists():
        print(f"compiling {source.name}", file=sys.stderr)
        partial = CACHE / f"{source.stem}-{key}.partial"
        compiled = subprocess.run([*command, "-o", str(partial)], capture_output=True, text=True)
        if compiled.returncode:
            raise RuntimeError(f"{compiler} could not build {source.name} against ns-3:\n{compiled.stderr}")
        partial.rename(program)
    return program


def main():
    parser = argparse.ArgumentParser(usage="setup.py [NAME] [--tree FOLDER]")
    parser.add_argument("name", nargs="?", default="dumbbell", choices=sorted(file.stem for file in HERE.glob("*.cc")))
    parser.add_argument("--tree")
    given = parser.parse_args()
    try:
        print(ensure(given.name, given.tree))
    except Missing as missing:
        print(f"skipped: {missing}", file=sys.stderr)
        return SKIPPED
    except RuntimeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
