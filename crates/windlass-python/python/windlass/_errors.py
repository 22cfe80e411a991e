"""What can go wrong."""

from __future__ import annotations


class Error(Exception):
    """Anything that Windlass refuses or fails at."""


class InputError(Error, ValueError):
    """What was asked for is not right.

    Attributes:
        file: the file that is at fault, if one is.
        line, column: where in that file, from 1.
        key: path of the key that is at fault, such as ``flow[0].start``.
        suggestion: the word that was probably meant in place of an unknown one.
        help: what else would be right, such as all words that are known.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        key: str | None = None,
        suggestion: str | None = None,
        help: str | None = None,
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.column = column
        self.key = key
        self.suggestion = suggestion
        self.help = help


class RunError(Error, RuntimeError):
    """Something went wrong in the course of the work. What was finished and has a folder is kept there."""
