"""The requirements of the RFCs, and their annotations beside the code and the tests.

A requirement is an entry of rfcNNNN.toml. It is implemented, unless it has `not` (the reason why it is deliberately not) or
`open` (what is missing). `but` names the limits of an implemented one, and `scope = "host"` parts outside of the endpoint.

An annotation is a comment that names requirements: `// RFC 5681-3.1-2, 6298-5.5-1` directly above the code that implements
them, or above the `#[test]` that proves them; `# RFC 5681-3.1-2` at the end of a line of a packet script.
"""

from __future__ import annotations

import collections
import pathlib
import re
import subprocess
import tomllib
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
LEVELS = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "RECOMMENDED", "rule")
KEYS = {"id", "level", "says", "not", "open", "but", "scope"}
ID = r"\d{4}-[\w.]+-[\w-]+"
ANNOTATION = re.compile(rf"(?://|#) RFC ({ID}(?:, {ID})*)\s*$")
# No text names an RFC like this.
SUSPECT = re.compile(r"(?://|#).*\bRFC \d{4}-\d")
ITEM = re.compile(r"\s*(?:pub(?:\([^)]*\))? )?(?:const |unsafe )*(?:fn|struct|enum|const|static|trait) (\w+)")


class Requirement(NamedTuple):
    id: str
    level: str
    says: str
    status: str = "implemented"
    remark: str = ""

    @property
    def section(self) -> str:
        return self.id.split("-")[1]


class Rfc(NamedTuple):
    number: str
    title: str
    requirements: list[Requirement]


class Place(NamedTuple):
    id: str
    path: str
    line: int
    name: str
    test: bool


def read(entry: dict, number: str) -> Requirement:
    """The requirement of an entry. A ValueError has the fault."""
    name = entry.get("id", "?")
    if unknown := entry.keys() - KEYS:
        raise ValueError(f"{name}: unknown key {min(unknown)}")
    if not re.fullmatch(ID, name) or not name.startswith(number):
        raise ValueError(f"{name}: the id must be {number}-SECTION-NUMBER")
    if entry.get("level") not in LEVELS or not entry.get("says"):
        raise ValueError(f"{name}: needs a level ({', '.join(LEVELS)}) and `says`")
    status = [key for key in ("not", "open", "but") if key in entry]
    if len(status) > 1:
        raise ValueError(f"{name}: has both `{status[0]}` and `{status[1]}`")
    if "scope" in entry and (entry["scope"] != "host" or status != ["not"]):
        raise ValueError(f'{name}: the scope can only be "host", with `not`')
    kind = {"not": "deliberate", "open": "open"}.get("".join(status), "implemented")
    return Requirement(name, entry["level"], entry["says"], kind, "".join(entry[key] for key in status))


def rfcs(folder: pathlib.Path = HERE) -> tuple[list[Rfc], list[str]]:
    """The RFCs with their requirements, and the faults of the files."""
    found, faults, seen = [], [], set()
    for path in sorted(folder.glob("rfc*.toml")):
        number, data, kept = path.stem[3:], tomllib.loads(path.read_text(encoding="utf-8")), []
        for entry in data["requirements"]:
            try:
                kept.append(read(entry, number))
            except ValueError as fault:
                faults.append(f"{path.name}: {fault}")
                continue
            if kept[-1].id in seen:
                faults.append(f"{path.name}: {kept[-1].id}: the id is used twice")
            seen.add(kept[-1].id)
        found.append(Rfc(number, data["title"], kept))
    return found, faults


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def subject(lines: list[str], at: int) -> tuple[str, bool] | None:
    """The item that an annotation belongs to, and true if it is a test. None if no code follows."""
    test, next_line = False, at + 1
    while next_line < len(lines) and re.match(r"\s*(//|#\[)", lines[next_line]):
        test |= lines[next_line].strip() == "#[test]"
        next_line += 1
    code = lines[next_line] if next_line < len(lines) else ""
    if not re.search(r"\w", code):
        return None
    if item := ITEM.match(code):
        return item[1], test
    depth = indent(code)
    for line in reversed(lines[:at]):
        if line.strip() and indent(line) < depth and not line.lstrip().startswith("//"):
            depth = indent(line)
            if item := ITEM.match(line):
                return item[1], test
    return "", test


def annotations(path: str, text: str) -> tuple[list[Place], list[str]]:
    """The annotations of a file, and the faults among them."""
    places, faults = [], []
    lines = text.split("\n")
    script = path.startswith("conformance/scripts/")
    tests, code = (re.match(rf"(?:core|lab|linux)/[\w-]+/{folder}/", path) for folder in ("tests", "src"))
    for at, line in enumerate(lines):
        found = ANNOTATION.search(line)
        where = f"{path}:{at + 1}"
        if not found:
            if SUSPECT.search(line):
                faults.append(f"{where}: not an annotation; write RFC {ID} and nothing else")
            continue
        about = (pathlib.Path(path).name, True) if script else subject(lines, at)
        if not (script or tests or code) or about is None or (tests and not about[1]):
            faults.append(f"{where}: the annotation is neither at code nor at a test")
            continue
        places += [Place(name, path, at + 1, *about) for name in found[1].split(", ")]
    return places, faults


def scan() -> tuple[list[Place], list[str]]:
    """The annotations of all files, and the faults among them."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.rs", "*.script"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    places, faults = [], []
    for path in sorted(set(listed)):
        if (ROOT / path).exists():
            more, wrong = annotations(path, (ROOT / path).read_text(encoding="utf-8"))
            places, faults = places + more, faults + wrong
    return places, faults


def compare(known: list[Rfc], places: list[Place]) -> list[str]:
    """The faults between requirements and annotations."""
    requirements = {r.id: r for rfc in known for r in rfc.requirements}
    faults = [f"{p.path}:{p.line}: there is no requirement {p.id}" for p in places if p.id not in requirements]
    coded = {p.id for p in places if not p.test}
    faults += [f"{r.id}: no code has an annotation; add one, or `not` or `open`" for r in requirements.values() if r.status == "implemented" and r.id not in coded]
    for p in places:
        if p.id in requirements and (status := requirements[p.id].status) != "implemented":
            faults.append(f"{p.path}:{p.line}: {p.id} is noted as {status}")
    return faults


def counts(rfc: Rfc, places: list[Place]) -> collections.Counter:
    """Number of requirements by status, and of the implemented ones with a test."""
    tested = {p.id for p in places if p.test}
    count = collections.Counter(r.status for r in rfc.requirements)
    count["all"] = len(rfc.requirements)
    count["tested"] = sum(r.status == "implemented" and r.id in tested for r in rfc.requirements)
    return count
