"""Arguments that nobody would write: each call works, or raises one error of Windlass. ``WINDLASS_EXAMPLES`` is the number of examples."""

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import windlass as wl

ROOT = Path(__file__).parents[3]
EXAMPLES = int(os.environ.get("WINDLASS_EXAMPLES", "60"))
any_examples = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
few_examples = settings(any_examples, max_examples=max(EXAMPLES // 3, 1))

LINK = {"between": ["a", "b"], "rate": "1Mbps", "delay": "5ms"}
SHORT = {"duration": "1s", "link": [LINK], "flow": [{"from": "a", "to": "b", "algorithm": "reno"}]}


def leaves(tree, path=""):
    """The paths of all keys below a value of a scenario, with the values."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for name, value in items:
        yield f"{path}{name}", value
        yield from leaves(value, f"{path}{name}.")


KNOWN = [leaf for file in sorted((ROOT / "scenarios").glob("*.toml")) for leaf in leaves(tomllib.loads(wl.Scenario(file).to_toml()))]
KEYS = sorted({key for key, _ in KNOWN})
VALUES = [value for _, value in KNOWN if isinstance(value, (str, int, float))]

units = st.sampled_from(["", "s", "ms", "ns", "Mbps", "bps", "B", "KiB", "pkt", "%", "m", "dBm", "J"])
quantities = st.builds("{}{}".format, st.one_of(st.integers(), st.floats()), units)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9), st.binary(max_size=3), quantities, st.sampled_from(VALUES))
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), inner, max_size=3), max_leaves=6)
keys = st.sampled_from(KEYS) | st.text(max_size=12)
words = st.one_of(st.none(), st.text(max_size=9), st.sampled_from(["line", "bar", "box", "cdf", "heat", "goodput_bps", "completion_s", "rtt_ns", "flow", "algorithm", "seed"]))


def works(call):
    """The result of a call, or ``None`` if it raised an error of Windlass. Every other exception fails the test."""
    try:
        return call()
    except (wl.Error, TypeError) as why:
        assert str(why)
        return None


@any_examples
@given(st.dictionaries(keys, values, max_size=4))
def test_any_dictionary_is_a_scenario_or_an_input_error(changes):
    made = works(lambda: wl.Scenario(SHORT | changes))
    if made is not None:
        assert works(lambda: wl.Scenario.from_toml(made.to_toml()).hash) == made.hash


@any_examples
@given(st.lists(st.tuples(keys, values), max_size=3))
def test_any_value_can_be_set_or_is_an_input_error(changes):
    scenario = wl.Scenario(ROOT / "scenarios" / "dumbbell.toml")
    for key, value in changes:
        scenario = works(lambda s=scenario, k=key, v=value: s.set(k, v)) or scenario
    works(scenario.outlook)


@any_examples
@given(st.text(), st.text(max_size=5))
def test_any_text_is_a_scenario_or_an_input_error(text, name):
    works(lambda: wl.Scenario.from_toml(text, name))


@few_examples
@given(st.lists(st.tuples(st.sampled_from(["cwnd", "ssthresh", "pacing", "like", "recovery"]), scalars), max_size=6))
def test_a_class_that_sets_any_value_runs_or_raises_an_error(given_values):
    class Odd(wl.Controller):
        def on_ack(self, conn, ack):
            name, value = given_values[conn.delivered // conn.mss % len(given_values)] if given_values else ("cwnd", 3000)
            setattr(self, name, value)

    works(lambda: wl.run(wl.Scenario(SHORT), controllers=Odd))


@few_examples
@given(scalars, scalars)
def test_a_class_that_returns_any_value_runs_or_raises_an_error(growth, threshold):
    class Odd(wl.WindowController):
        def increase(self, conn, ack, credit):
            return growth

        def threshold(self, conn, cause):
            return threshold

    works(lambda: wl.run(wl.Scenario(SHORT | {"link": [LINK | {"queue": "3pkt"}]}), controllers=Odd))


@pytest.mark.parametrize("number", [-1, 2**64])
def test_a_number_outside_its_range_is_an_input_error(number, tmp_path):
    scenario = wl.Scenario(SHORT)
    for call in [
        lambda: wl.run(scenario, seeds=number),
        lambda: wl.run(scenario, jobs=number),
        lambda: wl.Sweep(scenario, seeds=number),
        lambda: wl.Sweep(scenario, max_seeds=number),
        lambda: wl.Sweep(scenario).run(jobs=number),
        lambda: wl.compare(scenario, ["reno", "cubic"], seeds=number),
        lambda: wl.choose(scenario, seeds=number),
        lambda: wl.break_("reno", runs=number),
        lambda: wl.break_("reno", losses=number),
        lambda: wl.break_("reno", queue=(8, number)),
        lambda: wl.reproduce("reno-ber", folder=tmp_path, seeds=number),
        lambda: wl.assess("reno", folder=tmp_path, seeds=number),
    ]:
        with pytest.raises(wl.InputError, match=f"invalid number {number}; expected a whole number from 0 to"):
            call()


@few_examples
@given(keys, values, st.one_of(st.none(), st.integers()), words)
def test_any_axis_is_a_sweep_or_an_input_error(key, axis, seeds, metric):
    works(lambda: wl.Sweep(wl.Scenario(SHORT), {key: axis}, seeds=seeds, metrics=metric))


@pytest.fixture(scope="module")
def results():
    return wl.run(wl.Scenario(SHORT), seeds=2, record="cwnd")


@few_examples
@given(words, words, words, words, words | st.floats())
def test_any_words_are_a_figure_or_an_error(results, kind, metric, x, by, width):
    import matplotlib.pyplot as plt

    works(lambda: wl.figure(results, kind, metric=metric, x=x, by=by, width=width))
    plt.close("all")
