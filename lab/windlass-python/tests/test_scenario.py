"""Scenarios: their creation, and the errors of invalid scenarios."""

import numpy as np
import pytest
from conftest import ROOT

import windlass as wl

TREE = {
    "duration": "10s",
    "link": [{"between": ["a", "b"], "rate": "1Mbps", "delay": "5ms"}],
    "flow": [{"from": "a", "to": "b", "algorithm": "cubic"}],
}
TEXT = """
duration = "10s"
[[link]]
between = ["a", "b"]
rate = "1Mbps"
delay = "5ms"
[[flow]]
from = "a"
to = "b"
algorithm = "cubic"
"""


def test_all_ways_to_write_a_scenario_are_equal(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text(TEXT)
    built = wl.Scenario(duration="10s").link("a", "b", rate="1Mbps", delay="5ms").flow("a", "b", algorithm="cubic")
    made = [wl.Scenario(TREE), wl.Scenario.from_toml(TEXT), wl.Scenario(file), built, wl.Scenario.from_toml(built.to_toml())]
    assert len({s.hash for s in made}) == 1
    assert (built.duration_s, built.flows, built.links, built.seed) == (10.0, ["a-b"], ["a-b"], 1)


def test_change_returns_another_scenario():
    s = wl.Scenario(TREE)
    faster = s.set("link.0.rate", "2Mbps").set("flow.*.algorithm", "reno")
    assert s.hash != faster.hash and 'rate = "2Mbps"' in faster.to_toml() and 'algorithm = "reno"' in faster.to_toml()
    assert s.set("flow.0.stack", {"mss": "1000B"}).hash != s.hash
    assert s.set("seed", np.int64(7)).seed == 7


@pytest.mark.parametrize(
    ("change", "key", "suggestion", "says"),
    [
        (("flow", 0, "strat", "1s"), "flow[0].strat", "start", "did you mean `start`?"),
        (("link", 0, "rate", "fast"), "link[0].rate", None, "write a rate such as"),
        (("link", 0, "rate", 5), "link[0].rate", None, "has no unit"),
        (("flow", 0, "algorithm", "cubik"), "flow[0].algorithm", "cubic", "did you mean `cubic`?"),
        (("link", 0, "loss", {"model": "drop", "probability": "120%"}), "link[0].loss.probability", None, "more than 100 %"),
        (("flow", 0, "to", None), "flow[0].to", None, "invalid value of type NoneType"),
        (("flow", 0, "stack", {"mss": {1: 2}}), "flow[0].stack.mss.1", None, "key of a scenario must be text"),
    ],
)
def test_error_in_a_dictionary_has_the_path(change, key, suggestion, says):
    *where, name, value = change
    tree = {**TREE, "link": [dict(TREE["link"][0])], "flow": [dict(TREE["flow"][0])]}
    tree[where[0]][where[1]][name] = value
    with pytest.raises(wl.InputError, match=r"^" + key.replace("[", r"\[").replace("]", r"\]") + ": ") as e:
        wl.Scenario(tree)
    assert says in str(e.value)
    assert e.value.suggestion == suggestion
    assert e.value.file is None
    if value is not None and name != "stack":
        assert e.value.key == key


def test_missing_key_is_reported_with_its_table():
    with pytest.raises(wl.InputError, match=r"^link\[0\]: .*lacks the key `rate`"):
        wl.Scenario(duration="1s").link("a", "b", delay="1ms").flow("a", "b", algorithm="reno").to_toml()
    with pytest.raises(wl.InputError, match="lacks the key `duration`"):
        wl.Scenario({})


def test_an_error_in_a_file_has_file_line_and_column(tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text(TEXT.replace("algorithm", "algoritm"))
    with pytest.raises(wl.InputError) as e:
        wl.Scenario(file)
    assert (e.value.file, e.value.line, e.value.column) == (str(file), 10, 1)
    assert (e.value.key, e.value.suggestion) == ("flow[0].algoritm", "algorithm")
    assert "the keys of `[[flow]]` are" in e.value.help
    with pytest.raises(wl.InputError, match="cannot be read"):
        wl.Scenario(tmp_path / "none.toml")


def test_an_error_in_a_change_names_its_key():
    with pytest.raises(wl.InputError, match=r"^flow\.0\.algorithm: .*did you mean `reno`") as e:
        wl.Scenario(TREE).set("flow.0.algorithm", "rno")
    assert (e.value.key, e.value.suggestion) == ("flow.0.algorithm", "reno")


def test_the_scenarios_of_the_project_are_read():
    read = [wl.Scenario(path) for path in sorted((ROOT / "scenarios").glob("*.toml"))]
    assert read and all(s.duration_s > 0 for s in read)


def test_algorithms_are_a_table():
    table = wl.algorithms()
    assert {"reno", "cubic", "bbr"} <= set(table["id"]) and set(table["kind"]) == {"algorithm", "slow start", "timer"}
