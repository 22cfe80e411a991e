"""Shared fixtures of the tests."""

import signal
import subprocess
import sysconfig
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
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


class Dying(ProcessPoolExecutor):
    """One of its processes dies at the twelfth order. A kill by the test itself can come after the last run."""

    sent = 0

    def submit(self, *work, **named):
        self.sent += 1
        if self.sent == 12:
            super().submit(signal.raise_signal, signal.SIGKILL)
        return super().submit(*work, **named)


@pytest.fixture
def dying() -> Dying:
    return Dying(2, mp_context=get_context("spawn"))


@pytest.fixture
def command():
    """Calls the ``windlass`` command of the package."""
    program = Path(sysconfig.get_path("scripts")) / "windlass"

    def call(*words: str | Path, ok: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
        assert not ok or done.returncode == 0, done.stderr
        return done

    return call
