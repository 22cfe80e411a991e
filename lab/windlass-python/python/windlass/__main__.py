"""The ``windlass`` command."""

import os
import signal
import sys

from . import _native


def main() -> int:
    """Runs the command line and returns the exit code."""
    # Python's own handler would run only after the work in Rust has ended.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # `windlass figure` draws with this Python.
    os.environ.setdefault("WINDLASS_PYTHON", sys.executable)
    # Classes in the current folder are algorithms too.
    sys.path.append(os.getcwd())
    return _native.command(["windlass", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
