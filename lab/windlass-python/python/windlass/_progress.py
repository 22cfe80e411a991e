"""Progress of long work."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

Progress = bool | Callable[[int, int], None] | None
"""``None`` shows a progress bar in a terminal or notebook, ``True`` always, ``False`` never. A function is called with the number of
finished runs and the total number."""


def _is_watched() -> bool:
    shell = sys.modules.get("IPython")
    kernel = shell is not None and getattr(shell.get_ipython(), "kernel", None) is not None
    return kernel or sys.stderr.isatty()


class _Line:
    """A line on standard error, if tqdm is not installed."""

    def __init__(self, what: str) -> None:
        self.what, self.n, self.total, self.told = what, 0, 0, -1

    def refresh(self) -> None:
        if self.n != self.told:
            self.told = self.n
            print(f"\r{self.what}: {self.n} of {self.total} runs", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.told >= 0:
            print(file=sys.stderr)


def _bar(what: str) -> Any:
    try:
        # In a notebook without widgets tqdm prints a warning and uses a line of text.
        if find_spec("ipywidgets"):
            from tqdm.auto import tqdm
        else:
            from tqdm import tqdm
    except ImportError:
        return _Line(what)
    return tqdm(desc=what, unit="run", leave=False)


@contextmanager
def told(progress: Progress, what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yields the function that the work calls, and shows a bar until the work ends."""
    if callable(progress):
        yield progress
        return
    if progress is False or (progress is None and not _is_watched()):
        yield None
        return
    bar = _bar(what)

    def tell(made: int, total: int) -> None:
        if (bar.n, bar.total) != (made, total):
            bar.n, bar.total = made, total
            bar.refresh()

    try:
        yield tell
    finally:
        bar.close()
