"""Scenarios."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from html import escape
from os import PathLike, fspath
from typing import Any

from . import _native
from ._errors import InputError


class Scenario:
    """A network, its flows, and the data to record. A scenario is immutable: a method that changes a value returns a new scenario.

    A scenario comes from a file, from a dictionary with the contents of a file, or from calls:

    >>> s = Scenario({"duration": "10s", "link": [{"between": ["a", "b"], "rate": "1Mbps", "delay": "5ms"}],
    ...               "flow": [{"from": "a", "to": "b", "algorithm": "reno"}]})
    >>> s = Scenario(duration="10s").link("a", "b", rate="1Mbps", delay="5ms").flow("a", "b", algorithm="reno")

    Args:
        source: path of a scenario file, or a dictionary with the keys of such a file.
        keys: keys of the scenario itself, such as ``duration="100s"``, ``seed=7`` or ``stack={"mss": "1000B"}``.

    Raises:
        InputError: the input is invalid. The error has ``file``, ``line`` and ``column``, or the path of the ``key`` such as ``flow[0].rate``.
    """

    def __init__(self, source: str | PathLike[str] | Mapping[str, Any] | None = None, /, **keys: Any) -> None:
        self._set: list[tuple[str, str]] = []
        self._tree: dict[str, Any] | None = None
        self._file: str | None = None
        self._text: tuple[str, str] | None = None
        self._read: _native.Scenario | None = None
        if source is None or isinstance(source, Mapping):
            self._tree = copy.deepcopy(dict(source or {})) | keys
        else:
            self._file = fspath(source)
            self._set += [(key, _native.value_text(key, value)) for key, value in keys.items()]
        if source is not None:
            self._native()

    @classmethod
    def from_toml(cls, text: str, name: str = "scenario") -> Scenario:
        """A scenario from the text of a file."""
        made = cls()
        made._tree, made._text = None, (text, name)
        made._native()
        return made

    def _native(self) -> _native.Scenario:
        if self._read is None:
            if self._file is not None:
                self._read = _native.Scenario.of_file(self._file, self._set)
            else:
                text, name = self._text or (_native.toml_of(self._tree or {}), "scenario")
                self._read = _native.Scenario.of_text(text, name, False, self._set)
        return self._read

    def _copy(self) -> Scenario:
        made = copy.copy(self)
        made._set, made._tree, made._read = list(self._set), copy.deepcopy(self._tree), None
        return made

    def _with_item(self, kind: str, item: dict[str, Any]) -> Scenario:
        made = self._copy()
        if made._tree is None:
            raise InputError(f"cannot add a {kind} to a scenario from a file; write it in the file")
        made._tree[kind] = [*made._tree.get(kind, []), item]
        return made

    def link(self, a: str, b: str, /, **keys: Any) -> Scenario:
        """A copy with a link between two nodes. The nodes are created if they do not exist.

        ``rate`` and ``delay`` are required. ``queue="50pkt"``, ``loss="1%"`` (of packets) and every other key of ``[[link]]`` are optional.
        """
        if isinstance(keys.get("loss"), (str, float, int)):
            keys["loss"] = {"model": "drop", "probability": keys["loss"]}
        return self._with_item("link", {"between": [a, b], **keys})

    def flow(self, sender: str, receiver: str, /, **keys: Any) -> Scenario:
        """A copy with a flow of data from one node to another.

        ``algorithm="cubic"`` is required, unless the flow sends datagrams. ``start="2s"`` and every other key of ``[[flow]]`` are optional.
        """
        return self._with_item("flow", {"from": sender, "to": receiver, **keys})

    def set(self, key: str, value: Any) -> Scenario:
        """A copy with one value changed, like ``windlass run --set``.

        Args:
            key: path of the key. A link or flow has its name or its number from 0, and ``*`` means all:
                ``"link.0.rate"``, ``"flow.*.algorithm"``.
            value: text with its unit, a number, a bool, a list or a dictionary.
        """
        made = self._copy()
        made._set.append((key, _native.value_text(key, value)))
        if self._tree is None or self._read is not None:
            made._native()
        return made

    def _with_algorithms(self, of: Mapping[str, str]) -> Scenario:
        """A copy in which these flows, by name, have these algorithms."""
        return Scenario.from_toml(self._native().with_algorithms(dict(of)), self.name)

    @property
    def name(self) -> str:
        """Name of the scenario in results."""
        return self._native().name

    @property
    def seed(self) -> int:
        """Seed of the first run."""
        return self._native().seed

    @property
    def duration_s(self) -> float:
        """Simulated time of a run, seconds."""
        return self._native().duration_s

    @property
    def flows(self) -> list[str]:
        """Names of the flows."""
        return self._native().flows

    @property
    def links(self) -> list[str]:
        """Names of the links."""
        return self._native().links

    @property
    def hash(self) -> str:
        """Hash of the simulated scenario, 16 hexadecimal digits."""
        return self._native().hash

    def to_toml(self) -> str:
        """The whole scenario as the text of a file, with all defaults."""
        return self._native().to_toml()

    def warnings(self) -> list[str]:
        """Values that are probably mistakes, a sentence each."""
        return self._native().warnings()

    def outlook(self) -> str:
        """Paths, queues and windows, without a run."""
        return self._native().outlook()

    def _called(self) -> str:
        source = repr(self._file) if self._file else "..."
        changes = "".join(f".set({key!r}, {value!r})" for key, value in self._set)
        return f"Scenario({source}){changes}"

    def __repr__(self) -> str:
        return self._called()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.outlook())}</pre>"
