"""Algorithms in Python, checked with the vectors of the algorithms in Rust."""

import shutil

import pytest

import windlass as wl


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vectors")
    assert wl.write_vectors(folder) == len(list(folder.glob("*/*.jsonl"))) > 600
    return folder


@pytest.mark.parametrize("algorithm", ["reno", "tahoe", "newreno"])
def test_window_controller_without_changes_is_reno(algorithm, vectors):
    assert wl.conform(wl.WindowController, vectors / algorithm) == []


def test_a_mistake_is_found_with_file_line_and_event(vectors):
    class Careless(wl.WindowController):
        def threshold(self, conn, cause):
            return self.cwnd / 2

    # RFC 5681 equation 4 uses the flight, which is smaller than cwnd.
    found = {d.file.stem: d for d in wl.conform(Careless, vectors / "reno")}
    assert "minimum-window" in found or "one-loss" in found
    first = next(iter(found.values()))
    assert first.what in ("cwnd", "ssthresh") and first.expected != first.got
    assert str(first).startswith(f"{first.file}:{first.line}: {first.what}: expected ")


def test_controller_receives_every_event(vectors):
    heard = set()

    class Listener(wl.Controller):
        def on_ack(self, conn, ack):
            heard.add("ack")
            # At every event cwnd differs from the expected value, but only the first difference is reported.
            self.cwnd = 1

    assert len(wl.conform(Listener, vectors / "cubic" / "avoidance.jsonl")) == 1 and heard == {"ack"}


def test_file_that_is_not_a_vector_is_rejected(tmp_path, vectors):
    with pytest.raises(wl.InputError, match="has no vectors"):
        wl.conform(wl.WindowController, tmp_path)
    file = tmp_path / "x.jsonl"
    file.write_text("{}\n")
    with pytest.raises(wl.InputError, match="not a conformance vector of version 1"):
        wl.conform(wl.WindowController, file)
    shutil.copy(vectors / "reno" / "avoidance.jsonl", file)
    assert wl.conform(wl.WindowController, file) == []


LOSSY = (
    wl.Scenario(duration="20s")
    .link("a", "b", rate="2Mbps", delay="20ms", queue="20pkt", loss="1%")
    .flow("a", "b", algorithm="reno", name="one")
)


def goodput(results):
    return results.flows["goodput_bps"][0]


class Scalable(wl.WindowController):
    def increase(self, conn, ack, credit):
        return self.params["increase"] * credit

    def threshold(self, conn, cause):
        return max(int((1 - self.params["cut"]) * conn.flight_size), 2 * conn.mss)


@pytest.mark.parametrize("preset", ["rfc", "linux", "ns3", "ns2", "uip"])
@pytest.mark.parametrize("recovery", ["auto", "reno", "newreno", "sack", "prr"])
def test_reno_in_python_has_the_packets_of_reno_in_rust(preset, recovery):
    scenario = LOSSY.set("stack.preset", preset).set("stack.recovery", recovery)
    ours, theirs = wl.run(scenario, seeds=3), wl.run(scenario, seeds=3, controllers=wl.WindowController)
    assert theirs.flows["algorithm"] == ["WindowController"] * 3
    same = [name for name in ours.flows.columns if name not in ("algorithm", "scenario_hash")]
    assert {name: theirs.flows[name] for name in same} == {name: ours.flows[name] for name in same}


def test_a_class_has_the_slow_start_that_the_flow_names():
    fast = LOSSY.set("flow.0.slow_start", "hystart")
    assert wl.run(fast, controllers=wl.WindowController).flows["goodput_bps"] == wl.run(fast).flows["goodput_bps"]


def test_a_change_of_the_window_by_the_class_is_kept():
    class Capped(wl.WindowController):
        def on_ack(self, conn, ack):
            super().on_ack(conn, ack)
            self.cwnd = min(self.cwnd, 2 * conn.mss)

    # Two segments per RTT of slightly more than 40 ms: at most 0.58 Mbit/s.
    assert goodput(wl.run(LOSSY, controllers=Capped)) < 0.58e6


def test_an_unknown_name_raises_attribute_error():
    class Typo(wl.WindowController):
        def increase(self, conn, ack, credit):
            return conn.mss if conn.min_rtt else 0

    with pytest.raises(AttributeError, match="no attribute 'min_rtt'"):
        wl.run(LOSSY, controllers=Typo)


@pytest.mark.parametrize("name", ["on_acks", "on_timeout", "treshold", "increse"])
def test_a_misspelt_method_is_told(name):
    with pytest.warns(UserWarning, match=f"never calls Mine.{name}; did you mean"):
        type("Mine", (wl.WindowController,), {name: lambda *_: None})


def test_own_methods_and_data_are_not_taken_for_misspelt_ones(recwarn):
    type("Mine", (wl.WindowController,), {"smooth": lambda *_: None, "on": 1, "threshold": lambda *_: 1.0, "_on_acks": lambda *_: None})
    assert not recwarn.list


def test_class_controls_only_its_own_flow():
    class Narrow(wl.Controller):
        def on_ack(self, conn, ack):
            self.cwnd = 2 * conn.mss

    class Paced(Narrow):
        pacing = 12_500.0  # bytes per second

    two = LOSSY.flow("a", "b", algorithm="reno", name="two")
    both = wl.run(two, controllers={"two": Narrow})
    assert both.flows["algorithm"] == ["reno", "Narrow"]
    # Two segments per RTT of slightly more than 40 ms: at most 0.58 Mbit/s.
    assert both.flows["goodput_bps"][1] < 0.58e6 < both.flows["goodput_bps"][0]
    paced = wl.run(LOSSY.set("stack.preset", "linux"), controllers=Paced)
    assert goodput(paced) == pytest.approx(100_000, rel=0.1)
    assert paced.plot("cwnd") is not None


def test_exception_in_a_class_ends_the_run():
    class Wrong(wl.Controller):
        def on_ack(self, conn, ack):
            raise ZeroDivisionError("in the class")

    class Nothing(wl.Controller):
        def on_ack(self, conn, ack):
            self.cwnd = float("nan")

    with pytest.raises(ZeroDivisionError, match="in the class"):
        wl.run(LOSSY, controllers=Wrong)
    with pytest.raises(wl.InputError, match=r"Nothing.cwnd is nan at .* s; cwnd must be at least one byte"):
        wl.run(LOSSY, controllers=Nothing)
    with pytest.raises(wl.InputError, match="flow `three` not found; this scenario has `one`"):
        wl.run(LOSSY, controllers={"three": Nothing})
    datagrams = LOSSY.flow("a", "b", name="udp", traffic={"kind": "cbr", "rate": "10kbps", "packet": "100B", "transport": "udp"})
    with pytest.raises(wl.InputError, match="`udp` is not an ordinary TCP connection"):
        wl.run(datagrams, controllers={"udp": wl.WindowController})
