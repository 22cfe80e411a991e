"""Builds programs of ns-3 with TcpWindlass in them, against the ns-3 of PyPI."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "bench/ns3"), str(ROOT / "bench")]
import setup  # noqa: E402


def library():
    """libwindlass.a, built."""
    done = subprocess.run(["cargo", "build", "--quiet", "--release"], cwd=ROOT / "integrations/c", capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"cargo could not build integrations/c:\n{done.stderr[-3000:]}")
    return Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "integrations/c/target") / "release/libwindlass.a"


def program(source):
    """A program of ns-3, built with TcpWindlass in it."""
    headers = [ROOT / "integrations/c/include/windlass.h", HERE / "tcp-windlass.h"]
    more = [*headers, HERE / "tcp-windlass.cc", library()]
    return setup.build(setup.find_compiler(), setup.fetch(), source, more)


def main():
    try:
        print(program(Path(sys.argv[1])))
    except setup.Missing as missing:
        print(f"\n*** SKIPPED: TcpWindlass for ns-3: {missing} ***\n", file=sys.stderr)
        return setup.SKIPPED
    except RuntimeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
