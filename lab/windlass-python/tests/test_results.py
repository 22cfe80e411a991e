"""Runs: the same bytes as on the command line, tables for other packages, and Python threads during runs."""

import io
import signal
import subprocess
import sys
import textwrap
import threading
import time

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import windlass as wl


def test_command_and_package_give_the_same_bytes(lossy, tmp_path, command):
    file = tmp_path / "lossy.toml"
    file.write_text(lossy.to_toml())
    mine = wl.run(file, seeds=3, jobs=2)
    assert mine.to_csv() == command("run", file, "--runs", "3", "--csv").stdout
    wl.run(file, seeds=3, folder=tmp_path / "package", jobs=1)
    command("run", file, "--runs", "3", "--out", tmp_path / "command", "--jobs", "1")
    journals = [(tmp_path / who / "journal.jsonl").read_bytes() for who in ("package", "command")]
    assert journals[0] == journals[1]


def test_folder_is_not_computed_twice_and_can_be_loaded(lossy, tmp_path):
    told = []
    wl.run(lossy, seeds=2, folder=tmp_path / "r", progress=lambda made, total: told.append((made, total)))
    assert told[-1] == (2, 2)
    again = []
    kept = wl.run(lossy, seeds=3, folder=tmp_path / "r", progress=lambda made, total: again.append((made, total)))
    assert again[-1] == (1, 1)
    assert wl.load(tmp_path / "r").flows.to_dict() == kept.flows.to_dict()
    with pytest.raises(wl.InputError, match="holds no runs"):
        wl.load(tmp_path)


def test_tables_are_passed_without_a_copy(lossy):
    flows = wl.run(lossy, seeds=2).flows
    one, other = (pa.table(flows)["goodput_bps"].chunk(0).buffers()[1].address for _ in range(2))
    assert one == other
    assert pl.DataFrame(flows)["seed"].to_list() == [1, 1, 2, 2]
    assert duckdb.sql("select count(*) from flows").fetchall() == [(4,)]
    frame = flows.to_pandas()
    assert list(frame.columns) == flows.columns and frame["goodput_bps"].dtype == "float64"
    assert pa.table(flows).schema.field("goodput_bps").metadata[b"unit"] == b"bps"


def test_tables_describe_their_columns(lossy):
    flows = wl.run(lossy).flows
    assert flows.units["goodput_bps"] == "bps" and flows.units["srtt_ms"] == "ms" and "loss_rate" not in flows.units
    assert "RTT" in flows.meanings["srtt_ms"]
    assert [row["flow"] for row in flows.rows()] == ["a", "b"]
    assert "<td>" in flows._repr_html_()
    with pytest.raises(KeyError, match="goodput_bps"):
        flows["goodput"]


def test_a_table_equals_the_file_that_the_command_writes(lossy, tmp_path):
    r = wl.run(lossy, seeds=2, folder=tmp_path)
    written = pd.read_parquet(tmp_path / "summary.parquet")
    pd.testing.assert_frame_equal(r.to_pandas(), written, check_dtype=False)
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(r.to_csv("links"))), r.links.to_pandas(), check_dtype=False)


def test_time_series_are_recorded_and_drawn(lossy):
    r = wl.run(lossy, seeds=2, record="cwnd")
    assert set(r.series["flow"]) == {"a", "b"} and set(r.series["seed"]) == {1, 2}
    assert all(v is None or v > 0 for v in r.series["cwnd_bytes"])
    ax = r.plot("cwnd", flow="a")
    assert ax.get_ylabel() == "cwnd (kB)" and len(ax.lines) == 1
    # Not recorded: the same run is repeated.
    plain = wl.run(lossy, seeds=2).plot("cwnd", seed=2)
    recorded = r.plot("cwnd", seed=2)
    assert [line.get_xydata().tolist() for line in plain.lines] == [line.get_xydata().tolist() for line in recorded.lines]
    with pytest.raises(wl.InputError, match="did you mean"):
        r.plot("cwmd_bytes")


LONG = """
    import windlass as wl
    s = wl.Scenario(duration="200000s").link("a", "b", rate="100Mbps", delay="20ms", queue="100pkt").flow("a", "b", algorithm="reno")
    print("begun", flush=True)
"""


def test_ctrl_c_stops_a_run():
    code = textwrap.dedent(LONG) + "try:\n    wl.run(s)\nexcept KeyboardInterrupt:\n    print('stopped', flush=True)\n"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        time.sleep(1)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        assert time.monotonic() - begun < 5


def test_an_exception_of_the_progress_function_stops_the_work():
    def enough(made: int, total: int) -> None:
        raise LookupError("enough")

    long = wl.Scenario(duration="200000s").link("a", "b", rate="100Mbps", delay="20ms").flow("a", "b", algorithm="reno")
    with pytest.raises(LookupError, match="enough"):
        wl.run(long, progress=enough)


def test_other_threads_run_during_runs(lossy):
    counted, done = 0, threading.Event()

    def work() -> None:
        wl.run(lossy, seeds=1000)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        counted += 1
        time.sleep(0.001)
    thread.join()
    # A blocked thread would count only to one or two.
    assert counted >= 5


def test_too_many_seeds_are_refused(lossy):
    with pytest.raises(wl.InputError, match="would pass the largest seed"):
        wl.run(lossy.set("seed", 2**63 - 2), seeds=5)


def test_page_equals_the_commands_page_and_has_a_notebook_view(lossy, tmp_path, command):
    file = tmp_path / "lossy.toml"
    file.write_text(lossy.to_toml())
    mine = wl.run(file, seeds=2).page()
    command("run", file, "--runs", "2", "--out", tmp_path / "command")
    theirs = (tmp_path / "command" / "report.html").read_text(encoding="utf-8")
    # They differ only in the command that reproduces them.
    assert [line for line in mine.html.splitlines() if "windlass" not in line] == [
        line for line in theirs.splitlines() if "windlass" not in line
    ]
    assert mine._repr_html_().startswith("<iframe srcdoc=") and "<script" not in mine._repr_html_()
    mine.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == mine.html
