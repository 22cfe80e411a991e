"""Algorithms in Python, against the vectors that the algorithms in Rust are held against."""

import shutil

import pytest
from conftest import ROOT

import windlass as wl

VECTORS = ROOT / "conformance"


@pytest.mark.parametrize("algorithm", ["reno", "tahoe"])
def test_the_frame_as_it_stands_is_reno(algorithm):
    assert wl.conform(wl.WindowController, VECTORS / algorithm) == []


def test_newreno_differs_where_its_slow_start_is_another():
    differences = wl.conform(wl.WindowController, VECTORS / "newreno")
    assert {d.file.stem for d in differences} == {"hystart-plus-plus", "limited-slow-start"}


def test_a_mistake_is_found_with_file_line_and_event():
    class Careless(wl.WindowController):
        def threshold(self, conn, cause):
            return self.cwnd / 2

    # RFC 5681 equation 4 is of what is in flight, which is less than the window.
    found = {d.file.stem: d for d in wl.conform(Careless, VECTORS / "reno")}
    assert "minimum-window" in found or "one-loss" in found
    first = next(iter(found.values()))
    assert first.what in ("cwnd", "ssthresh") and first.expected != first.got
    assert str(first).startswith(f"{first.file}:{first.line}: {first.what}: expected ")


def test_a_controller_without_a_frame_hears_every_event():
    heard = set()

    class Listener(wl.Controller):
        def on_ack(self, conn, ack):
            heard.add("ack")
            # At every event the window is another than is expected: only the first is a difference.
            self.cwnd = 1

    assert len(wl.conform(Listener, VECTORS / "cubic" / "avoidance.jsonl")) == 1 and heard == {"ack"}


def test_what_is_no_vector_is_said(tmp_path):
    with pytest.raises(wl.InputError, match="has no vectors"):
        wl.conform(wl.WindowController, tmp_path)
    file = tmp_path / "x.jsonl"
    file.write_text("{}\n")
    with pytest.raises(wl.InputError, match="no vector of version 1"):
        wl.conform(wl.WindowController, file)
    shutil.copy(VECTORS / "reno" / "avoidance.jsonl", file)
    assert wl.conform(wl.WindowController, file) == []
