"""Comparisons, and the command of the package."""

import json

import pytest

import windlass as wl


def test_comparison_equals_the_commands_comparison(lossy, tmp_path, command):
    file = tmp_path / "lossy.toml"
    file.write_text(lossy.to_toml())
    c = wl.compare(file, ["cubic", "reno", "vegas"], seeds=4)
    said = json.loads(command("compare", file, "--algorithms", "cubic,reno,vegas", "--seeds", "4", "--json").stdout)
    first = said["rankings"][0]["entries"]
    mine = [row["algorithm"] for row in c.ranking.rows() if row["measure"] == c.ranking["measure"][0]]
    assert mine == [said["algorithms"][entry["algorithm"]] for entry in first]
    assert c.harm is not None and len(c.harm) > 0
    assert "cubic" in repr(c) and "<pre>" in c._repr_html_()
    c.page().save(tmp_path / "report.html")
    assert "<html" in (tmp_path / "report.html").read_text()
    assert [label.get_text() for label in c.plot().get_xticklabels()] == ["cubic", "reno", "vegas"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"algorithms": ["cubic"]}, "at least two"),
        ({"algorithms": ["cubic", "cubik"]}, "did you mean `cubic`"),
        ({"metric": "godput"}, "did you mean `goodput`"),
        ({"flows": ["c"]}, "no flow `c`"),
        ({"baseline": "bbr"}, "not among the algorithms"),
        ({"jitter": "5"}, "no unit"),
    ],
)
def test_invalid_arguments_are_rejected(lossy, given, says):
    with pytest.raises(wl.InputError, match=says):
        wl.compare(lossy, **({"algorithms": ["cubic", "reno"], "seeds": 1} | given))


def test_command_has_version_and_exit_codes(command):
    assert command("--version").stdout.split() == ["windlass", wl.__version__]
    refused = command("run", "none.toml", ok=False)
    assert refused.returncode == 2 and "cannot be read" in refused.stderr
    elsewhere = command("algorithms", "nobody", ok=False)
    assert elsewhere.returncode == 2


def test_assessment_writes_a_scorecard_and_resumes(tmp_path):
    given = {"only": ["loss"], "seeds": 2, "folder": tmp_path}
    bad, good = wl.assess("scalable", **given), wl.assess("reno", **given)
    for made, name in ((bad, "scalable"), (good, "reno")):
        assert name in repr(made) and made.scorecard["families"] and made.failed == []
        assert "<html" in made.page().html and "<html" in made.report().html
    assert wl.assess("reno", **given).scorecard == good.scorecard
    with pytest.raises(wl.InputError, match="only: the families are .*loss"):
        wl.assess("reno", only=["nothing"])
    with pytest.raises(wl.InputError, match="cubic"):
        wl.assess("cubik")


def test_class_is_assessed_like_an_algorithm(tmp_path):
    class NoBackOff(wl.WindowController):
        def threshold(self, conn, cause):
            return self.cwnd

    given = {"only": ["bufferbloat.wait.10M-40ms-8bdp"], "seeds": 1, "folder": tmp_path}
    bad, good = wl.assess(NoBackOff, **given), wl.assess(wl.WindowController, **given)
    assert bad.scorecard["algorithm"].startswith("NoBackOff-") and bad.failed == good.failed == []
    bad, good = (card.scorecard["families"][0]["criteria"][0]["networks"][0] for card in (bad, good))
    assert bad["measured"] > good["measured"], "what never backs off keeps the queue full"
    assert not bad["commands"], "only its own process has a class within a function"
    assert good["commands"]


def test_exception_of_a_class_in_an_assessment_is_raised(tmp_path):
    class Raises(wl.WindowController):
        def threshold(self, conn, cause):
            raise ZeroDivisionError("of nothing")

    with pytest.raises(ZeroDivisionError, match="of nothing"):
        wl.assess(Raises, only=["bufferbloat.wait.10M-40ms-8bdp"], seeds=1, folder=tmp_path)
