"""Algorithms in Python send the packets of the algorithms in Rust, in every preset."""

import pytest
from ported_bbr import Bbr
from ported_cubic import Cubic

import windlass as wl

PORTS = {"reno": wl.WindowController, "cubic": Cubic, "bbr": Bbr}
PRESETS = ["rfc", "linux", "ns3", "ns2", "uip"]
LINK = {"rate": "4Mbps", "delay": "20ms", "queue": "30pkt"}
PATHS = {
    "lossy": wl.Scenario(duration="25s").link("a", "b", loss="1%", **LINK).flow("a", "b", algorithm="reno"),
    # A timeout, an idle time and a full queue.
    "idle": wl.Scenario(duration="25s")
    .link("a", "b", down=[["6s", "8s"]], **LINK)
    .flow("a", "b", algorithm="reno", traffic={"kind": "messages", "every": "3s", "size": "600kB"}),
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("algorithm", PORTS)
def test_a_class_has_every_value_of_the_algorithm_in_rust(algorithm, preset, path):
    scenario = PATHS[path].set("stack.preset", preset).set("flow.0.algorithm", algorithm)
    ours = wl.run(scenario, seeds=2, record="cwnd")
    theirs = wl.run(scenario, seeds=2, controllers=PORTS[algorithm], record="cwnd")
    same = [name for name in ours.flows.columns if name not in ("algorithm", "scenario_hash")]
    assert {name: theirs.flows[name] for name in same} == {name: ours.flows[name] for name in same}
    assert theirs.series.to_dict() == ours.series.to_dict()
