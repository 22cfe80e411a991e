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


LOSSY = (
    wl.Scenario(duration="20s")
    .link("a", "b", rate="2Mbps", delay="20ms", queue="20pkt", loss="1%")
    .flow("a", "b", algorithm="reno", name="one")
)


def goodput(results):
    return results.flows["goodput_bps"][0]


def test_reno_in_python_fares_as_reno_in_rust_in_the_simulator():
    ours, theirs = wl.run(LOSSY), wl.run(LOSSY, controllers=wl.WindowController)
    assert theirs.flows["algorithm"] == ["WindowController"]
    # The same losses meet both; windows differ by what integers leave over.
    assert goodput(theirs) == pytest.approx(goodput(ours), rel=0.01)
    assert theirs.flows["retransmits"] == ours.flows["retransmits"]
    assert wl.run(LOSSY, controllers=wl.WindowController).to_csv() == theirs.to_csv()


def test_what_a_class_answers_decides_and_only_where_it_runs():
    class Narrow(wl.Controller):
        def on_ack(self, conn, ack):
            self.cwnd = 2 * conn.mss

    class Paced(Narrow):
        pacing = 12_500.0  # bytes per second

    two = LOSSY.flow("a", "b", algorithm="reno", name="two")
    both = wl.run(two, controllers={"two": Narrow})
    assert both.flows["algorithm"] == ["reno", "Narrow"]
    # Two segments each round trip of 40 ms and a little: at most 0.58 Mbit/s.
    assert both.flows["goodput_bps"][1] < 0.58e6 < both.flows["goodput_bps"][0]
    paced = wl.run(LOSSY.set("stack.preset", "linux"), controllers=Paced)
    assert goodput(paced) == pytest.approx(100_000, rel=0.1)
    assert paced.plot("cwnd") is not None


def test_a_mistake_in_a_class_ends_the_run_as_what_it_is():
    class Wrong(wl.Controller):
        def on_ack(self, conn, ack):
            raise ZeroDivisionError("in the class")

    class Nothing(wl.Controller):
        def on_ack(self, conn, ack):
            self.cwnd = float("nan")

    with pytest.raises(ZeroDivisionError, match="in the class"):
        wl.run(LOSSY, controllers=Wrong)
    with pytest.raises(wl.InputError, match=r"Nothing.cwnd is nan at .* s; a window is one byte at least"):
        wl.run(LOSSY, controllers=Nothing)
    with pytest.raises(wl.InputError, match="there is no flow `three`; there are `one`"):
        wl.run(LOSSY, controllers={"three": Nothing})
    with pytest.raises(wl.InputError, match="not kept in a folder"):
        wl.run(LOSSY, controllers=Nothing, folder="unused")
    datagrams = LOSSY.flow("a", "b", name="udp", traffic={"kind": "cbr", "rate": "10kbps", "packet": "100B", "transport": "udp"})
    with pytest.raises(wl.InputError, match="`udp` is not an ordinary TCP connection"):
        wl.run(datagrams, controllers={"udp": wl.WindowController})
