"""Shared fixtures of the tests."""

import subprocess
import sysconfig
from pathlib import Path

import matplotlib
import pytest

import windlass as wl

# Not by an environment variable, because the notebooks would inherit it.
matplotlib.use("agg")

ROOT = Path(__file__).parents[3]


@pytest.fixture
def lossy() -> wl.Scenario:
    """Two flows over a lossy link; at most one second of processor time."""
    s = wl.Scenario(duration="10s").link("server", "client", rate="2Mbps", delay="20ms", loss="1%", queue="20pkt")
    return s.flow("server", "client", name="a", algorithm="reno").flow("server", "client", name="b", algorithm="cubic")


@pytest.fixture
def command():
    """Calls the ``windlass`` command of the package."""
    program = Path(sysconfig.get_path("scripts")) / "windlass"

    def call(*words: str | Path, ok: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
        assert not ok or done.returncode == 0, done.stderr
        return done

    return call
