"""Reports as pages."""

from __future__ import annotations

from html import escape
from os import PathLike
from pathlib import Path


class Page:
    """A report as one HTML file, which opens without a network. A notebook displays it inline."""

    def __init__(self, html: str) -> None:
        self.html = html
        """The text of the file."""

    def save(self, path: str | PathLike[str]) -> None:
        """Writes it to a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<a page of {len(self.html) // 1000} kB>"

    def _repr_html_(self) -> str:
        # A separate frame keeps the page's styles and scripts apart from the notebook's.
        return f'<iframe srcdoc="{escape(self.html)}" style="width: 100%; height: 40em; border: 0" title="report"></iframe>'
