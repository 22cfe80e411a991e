"""Finds the English text in Markdown, Rust and TOML files, without code, links' targets and generated parts."""

from __future__ import annotations

import re
from typing import NamedTuple

# Stands for a piece of code in a sentence: it counts as one word, and no rule matches it.
CODE = "\u25aa"
WORD = re.compile(r"[A-Za-z0-9\u25aa][\w'\u2019.,/%\u25aa-]*")
LETTERS = re.compile(r"[A-Za-z]{2,}")
# A sentence may begin with a name that is never written with a capital.
END = re.compile(r"[.!?][\"')\u201d]*\s+(?=[\"'(\u201c]?(?:[A-Z0-9\u25aa\u25b2\u25bc]|(?:ns-3|s2n-quic|quinn|noq|smoltcp|lwIP)\b))")
SHORT = re.compile(r"\b(?:e\.g|i\.e|vs|cf|al|Fig|Sec|No|approx|resp|Dr)\.$")
# A whole page or a part of it that a command writes. The command's own strings are checked where they are.
GENERATED = re.compile(r"do not edit")
PART = re.compile(r"<!-- (?:[\w-]+: )?(?:written by|tables of|metrics)\b")
PART_END = re.compile(r"<!-- (?:/|end)")


class Text(NamedTuple):
    """A piece of text: `kind` is prose, heading, cell, comment, message or test."""

    kind: str
    line: int
    text: str


def plain(text: str) -> str:
    """Markdown without its marks; code becomes one word."""
    for pattern, put in (
        (r"<!--.*?-->|\{%.*?%\}|!\[[^\]]*\]\([^)]*\)", " "),
        (r"``.+?``|`[^`]*`|\{\{.*?\}\}|\$[^$\s][^$]*\$", CODE),
        (r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1"),
        (r"https?://\S+", CODE),
        (r"</?[A-Za-z][^>]*>", " "),
        (r"(?<!\w)[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}(?!\w)", ""),
    ):
        text = re.sub(pattern, put, text)
    return " ".join(text.split())


def sentences(text: str) -> list[str]:
    found, start = [], 0
    for mark in END.finditer(text):
        if not SHORT.search(text[: mark.start() + 1]):
            found.append(text[start : mark.end()].strip())
            start = mark.end()
    return found + [text[start:].strip()]


def words(text: str) -> int:
    return len(WORD.findall(text))


class Markdown:
    """Reads lines of Markdown into texts: paragraphs and list items joined, headings and cells each alone."""

    def __init__(self, kind: str = "prose"):
        self.kind, self.found, self.lines, self.begin = kind, [], [], 0
        self.fence = self.comment = ""
        self.generated = False

    def close(self) -> None:
        self.add(self.kind, self.begin, " ".join(self.lines))
        self.lines = []

    def add(self, kind: str, line: int, text: str) -> None:
        if LETTERS.search(text := plain(text)):
            self.found.append(Text(kind, line, text))

    def skipped(self, bare: str) -> bool:
        """Whether the line is in a code block, a comment or a part that a command writes."""
        if self.fence:
            self.fence = "" if bare.startswith(self.fence) else self.fence
        elif bare.startswith(("```", "~~~")):
            self.close()
            self.fence = bare[:3]
        elif self.comment or bare.startswith("<!--"):
            self.close()
            self.generated = bool(PART.match(bare)) or self.generated and not PART_END.match(bare)
            self.comment = "" if "-->" in bare else "<!--"
        else:
            return self.generated
        return True

    def line(self, number: int, raw: str) -> None:
        bare = re.sub(r"^\s*(?:> ?)+", "", raw).strip()
        if self.skipped(bare):
            return
        item = re.match(r"(?:[-*+]|\d+[.)])\s+", bare)
        if raw.startswith("    ") and self.kind == "prose" and not (item or self.lines):
            return  # indented code
        if item or not bare or bare[0] in "|#" or re.match(r"\{\{#|\[[^\]]+\]:\s|[-=*_]{3,}$", bare):
            self.close()
        if bare.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", bare.strip("|")):
                if len(LETTERS.findall(plain(cell))) > 2:
                    self.add("cell", number, cell)
        elif bare.startswith("#"):
            self.add("heading", number, bare.lstrip("#"))
        elif bare and not re.match(r"\{\{#|\[[^\]]+\]:\s|[-=*_]{3,}$", bare):
            if not self.lines:
                self.begin = number
            self.lines.append(bare[item.end() :] if item else bare)


def markdown(text: str, kind: str = "prose", first: int = 1) -> list[Text]:
    reader = Markdown(kind)
    for number, line in enumerate(text.splitlines(), first):
        reader.line(number, line)
    reader.close()
    return reader.found


LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"', re.S)
LITERAL_OR_COMMENT = re.compile(r'//[^\n]*|r(#*)".*?"\1|b?\'(?:\\.|[^\'\\\n])\'|"(?:[^"\\]|\\.)*"', re.S)


def is_message(text: str) -> bool:
    spoken = len(LETTERS.findall(text.replace(CODE, ""))) >= 3 and " " in text
    return spoken and not re.search(r"[;=]{2}|::|</|\{%", text)


def messages(text: str) -> list[Text]:
    """String literals that are sentences rather than names or code."""
    found = []
    for mark in LITERAL_OR_COMMENT.finditer(text):
        if not mark[0].startswith('"'):
            continue
        inside = re.sub(r"\\\n\s*", "", mark[0][1:-1]).replace('\\"', '"').replace("\\n", " ")
        inside = plain(re.sub(r"\{[^{}]*\}", CODE, inside))
        if is_message(inside):
            found.append(Text("message", text.count("\n", 0, mark.start()) + 1, inside))
    return found


def rust(text: str, path: str) -> list[Text]:
    """Doc comments, messages outside tests, and the names of tests."""
    found, lines, begin = [], [], 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        doc = re.match(r"\s*//[/!](?!/) ?(.*)", line)
        if doc:
            begin = begin if lines else number
            lines.append(doc[1])
        elif lines:
            found += [part._replace(kind="comment") for part in markdown("\n".join(lines), first=begin)]
            lines = []
    for mark in re.finditer(r"#\[(?:tokio::)?test[^\n]*\]\n(?:\s*#\[[^\n]*\n|\s*//[^\n]*\n)*\s*(?:async )?fn (\w+)", text):
        found.append(Text("test", text.count("\n", 0, mark.start(1)) + 1, mark[1].replace("_", " ")))
    if "/tests/" not in path and not path.endswith(("tests.rs", "_test.rs")):
        found += messages(text.split("#[cfg(test)]\nmod ")[0])
    return found


def toml(text: str) -> list[Text]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#"):
            continue
        for mark in LITERAL.finditer(line):
            inside = plain(mark[1])
            names = re.fullmatch(r"[a-z_]\w*(?:, [a-z_]\w*)+", inside)
            if is_message(inside) and not names and not re.search(r"[=*/(]\S*\w\(|metric\(", inside):
                found.append(Text("message", number, inside))
    return found


def read(path: str, text: str) -> list[Text]:
    if path.endswith(".rs"):
        return rust(text, path)
    if path.endswith(".toml"):
        return toml(text)
    return [] if GENERATED.search(text[:600]) else markdown(text)
