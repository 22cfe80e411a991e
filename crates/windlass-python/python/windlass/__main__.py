"""The ``windlass`` command."""

import signal
import sys

from . import _native


def main() -> int:
    """Does what the command line says; the exit code."""
    # Work in Rust does not come back to Python's own handler before its end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.command(["windlass", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
