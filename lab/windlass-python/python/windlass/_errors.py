"""Exceptions."""

from __future__ import annotations


class Error(Exception):
    """Base class of all errors of Windlass."""


class InputError(Error, ValueError):
    """Invalid input.

    Attributes:
        file: the file with the error, if the input is a file.
        line, column: position in the file, from 1.
        key: path of the key with the error, such as ``flow[0].start``.
        suggestion: the probably intended word for an unknown word.
        help: valid values, such as all known words.
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
    """The work failed. Finished runs stay in the folder, if a folder was given."""
