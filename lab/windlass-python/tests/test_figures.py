"""Figures for papers, and packs of results."""

import tarfile
import xml.etree.ElementTree as ET

import pytest

import windlass as wl

PATH = (
    wl.Scenario(duration="10s")
    .link("a", "b", rate="2Mbps", delay="20ms", queue="20pkt", loss="1%")
    .flow("a", "b", name="f", algorithm="reno", traffic={"kind": "messages", "every": "100ms", "size": "10kB", "deadline": "1s"})
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = tmp_path_factory.mktemp("results")
    sweep = wl.Sweep(PATH, {"link.0.delay": ["5ms", "20ms"], "flow.*.algorithm": ["reno", "cubic"]}, seeds=3)
    sweep.run(made / "sweep")
    wl.run(PATH, seeds=2, record=["rtt", "latency"], folder=made / "run")
    return made


def test_each_kind_is_written_in_each_format_with_its_command(folders, tmp_path, command):
    file = tmp_path / "p.toml"
    file.write_text(PATH.to_toml())
    command("compare", file, "--algorithms", "reno,cubic", "--seeds", "3", "--out", tmp_path / "compared")
    sweep, run = folders / "sweep", folders / "run"
    for name, words in {
        "line": (sweep, "--kind", "line"),
        "bar": (sweep, "--kind", "bar", "--x", "algorithm"),
        "heat": (sweep, "--kind", "heat"),
        "box": (sweep, "--kind", "box", "--metric", "srtt_ms"),
        "rtt": (run, "--kind", "cdf", "--metric", "rtt_ns"),
        "latency": (run, "--kind", "cdf", "--metric", "latency"),
        "ranking": (tmp_path / "compared",),
        "harm": (tmp_path / "compared", "--kind", "heat"),
        "fairness": (tmp_path / "compared", "--kind", "heat", "--metric", "jain_index"),
    }.items():
        for ending in ("svg", "pdf", "png", "tex"):
            out = tmp_path / f"{name}.{ending}"
            command("figure", *words, "--out", out)
            assert b"windlass figure" in out.read_bytes(), "the command is in the metadata"
    width = ET.parse(tmp_path / "line.svg").getroot().get("width")
    assert width == "252pt", "3.5 inches"
    assert r"\toprule" in (tmp_path / "ranking.tex").read_text()
    twice = tmp_path / "line.svg", tmp_path / "again.svg"
    command("figure", folders / "sweep", "--kind", "line", "--out", twice[1])
    assert twice[0].read_text().replace("line.svg", "again.svg") == twice[1].read_text()


def test_a_line_joins_numbers_and_not_categories(folders):
    numbers = wl.figure(folders / "sweep", "line", x="delay_s")
    assert all(len(line.get_xdata()) == 2 for line in numbers.lines)
    categories = wl.figure(folders / "sweep", "line", x="algorithm")
    assert all(line.get_linestyle() == "None" for line in categories.lines)


def test_cdf_has_every_sample_and_counts_values_that_never_came(folders):
    results = wl.run(PATH, seeds=1, record=["rtt"])
    samples = [v for v in results.series["rtt_ns"] if v is not None]
    assert len(samples) > 100 and min(samples) >= 40_000_000
    data = results.plot("rtt_ns", kind="cdf").lines[0].get_xydata()
    assert len(data) == len(samples) + 1 and data[-1][1] == 1
    endless = wl.run(PATH.set("flow.0.traffic", {"kind": "bulk", "bytes": "100MB"}), seeds=1)
    with pytest.raises(wl.InputError, match="not found; expected rtt_ns"):
        endless.plot("nothing", kind="cdf")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"kind": "pie"}, "expected one of line, bar, box, cdf, heat"),
        ({"metric": "flow.*.nothing"}, "expected one of flow"),
        ({"x": "rate"}, "expected one of delay_s, algorithm"),
        ({"width": "wide"}, "expected inches, or one of ieee"),
        ({"out": "x.gif"}, "ends with .svg, .pdf, .png or .tex"),
        ({"kind": "cdf", "metric": "rtt_ns"}, "record it by `record.series`"),
    ],
)
def test_invalid_arguments_are_rejected(folders, given, says):
    with pytest.raises(wl.InputError, match=says):
        wl.figure(folders / "sweep", **given)


def test_values_of_several_algorithms_are_never_one_group(tmp_path):
    folder = tmp_path / "both"
    for algorithm in ("reno", "cubic"):
        wl.run(PATH.set("flow.0.algorithm", algorithm), seeds=1, record=["rtt"], folder=folder)
    for metric in ("rtt_ns", "goodput_bps"):
        labels = [line.get_label() for line in wl.figure(folder, "cdf", metric=metric, by="algorithm").lines]
        assert labels == ["cubic", "reno"], metric
        mixed = [line.get_label() for line in wl.figure(folder, "cdf", metric=metric).lines]
        assert mixed == ["f, cubic", "f, reno"], metric
    flows = PATH.flow("a", "b", name="g", algorithm="cubic")
    labels = [line.get_label() for line in wl.run(flows, record=["rtt"]).plot("rtt_ns", kind="cdf", by="algorithm").lines]
    assert sorted(labels) == ["cubic", "reno"]


def test_several_folders_are_drawn_into_one_picture(folders, tmp_path, command):
    for delay in ("20ms", "80ms"):
        wl.run(PATH.set("link.0.delay", delay), seeds=1, record=["rtt"], folder=tmp_path / delay)
    drawn = wl.figure([tmp_path / "20ms", tmp_path / "80ms"], "cdf", metric="rtt_ns")
    assert [line.get_label() for line in drawn.lines] == ["20ms: f", "80ms: f"]
    command("figure", tmp_path / "20ms", tmp_path / "80ms", "--kind", "box", "--metric", "rtt_ns", "--out", tmp_path / "both.svg")
    lines = wl.figure([folders / "sweep"], "line", metric="flow.*.goodput")
    assert [line.get_label() for line in lines.lines] == ["reno", "cubic"]
    with pytest.raises(wl.InputError, match="two folders have the name sweep"):
        wl.figure([folders / "sweep", folders / "sweep"], "line")
    with pytest.raises(wl.InputError, match="of one folder"):
        wl.figure([folders / "sweep", folders / "sweep"], "heat")


def test_all_kinds_have_the_same_order_of_algorithms(tmp_path, command):
    file = tmp_path / "p.toml"
    file.write_text(PATH.to_toml())
    command("compare", file, "--algorithms", "vegas,reno,cubic", "--seeds", "3", "--out", tmp_path / "compared")
    ticks = [[tick.get_text() for tick in wl.figure(tmp_path / "compared", kind, **given).get_xticklabels()] for kind, given in [
        ("bar", {"metric": "goodput"}), ("bar", {"metric": "loss"}), ("heat", {}), ("heat", {"metric": "jain"}), ("box", {"metric": "goodput_bps"})
    ]]
    assert all(sorted(one) == ["cubic", "reno", "vegas"] and one == ticks[0] for one in ticks), ticks


def test_many_or_long_names_do_not_cover_the_curves(tmp_path):
    for i in range(8):
        wl.run(PATH.set("duration", "2s").set("seed", i + 1), folder=tmp_path / f"a-long-name-of-a-folder-{i}")
    axes = wl.figure(sorted(tmp_path.iterdir()), "cdf", metric="goodput_bps", width="ieee")
    axes.figure.canvas.draw()
    assert axes.get_legend().get_window_extent().y0 >= axes.get_window_extent().y1 - 1
    assert axes.get_window_extent().height > 100, "dots of 1/100 inch"


def test_a_time_series_has_the_width_and_the_file_that_are_asked_for(folders, tmp_path):
    results = wl.run(PATH, seeds=1)
    axes = results.plot("cwnd", width="ieee", out=tmp_path / "cwnd.pdf")
    assert axes.figure.get_figwidth() == 3.5 and (tmp_path / "cwnd.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(TypeError):
        results.plot("cwnd", nonsense=3)


def test_sixteen_lines_differ_in_colour_or_dashes():
    from windlass._figure import _COLOURS, _dash

    assert len({(_COLOURS[i % 8], _dash(i)) for i in range(16)}) == 16


def test_a_pack_has_the_module_of_its_class_and_repeats_elsewhere(tmp_path, command, monkeypatch):
    (tmp_path / "own.py").write_text(
        "import windlass as wl\n\n\nclass Slow(wl.WindowController):\n    def increase(self, conn, ack, credit):\n        return 0.01 * credit\n"
    )
    (tmp_path / "p.toml").write_text(PATH.to_toml())
    monkeypatch.chdir(tmp_path)
    command("run", "p.toml", "--set", "flow.0.algorithm=python:own:Slow", "--out", "made")
    command("pack", "made", "--out", "made.tar")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert "1 runs have the same bytes" in command("unpack", tmp_path / "made.tar", "--check").stdout


def test_a_pack_repeats_its_runs_and_finds_a_changed_result(folders, tmp_path, command):
    one, two = tmp_path / "one.tar", tmp_path / "two.tar"
    command("figure", folders / "sweep", "--out", folders / "sweep" / "f.pdf")
    for out in (one, two):
        command("pack", folders / "sweep", "--out", out)
    assert one.read_bytes() == two.read_bytes()
    names = {name.partition("/")[2] for name in tarfile.open(one).getnames()}
    assert {"README.md", "repeat.sh", "commands.txt", "SHA256SUMS", "journal.jsonl", "points.csv", "f.pdf"} <= names
    assert "12 runs have the same bytes" in command("unpack", one, "--check", "--out", tmp_path).stdout
    points = tmp_path / "sweep" / "points.csv"
    points.write_text(points.read_text().replace("reno", "remo"))
    said = command("unpack", "--check", tmp_path / "sweep", ok=False)
    assert said.returncode == 1 and "the first: points.csv" in said.stdout
