"""Sweeps: the tables do not depend on the place of the runs."""

import json
import os
import signal
import subprocess
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

import windlass as wl
from windlass import _native

AXES = {"loss:link.0.loss.probability": ["0.1%", "2%"], "link.0.delay": ["5ms", "0.02s"], "flow.*.algorithm": ["reno", "cubic"]}


def tables(folder):
    return {name: (folder / name).read_bytes() for name in ("points.csv", "points.parquet", "summary.parquet", "links.parquet")}


@pytest.fixture
def sweep(lossy):
    return wl.Sweep(lossy, AXES, seeds=4)


def test_axes_are_columns_of_numbers_with_units(sweep):
    w = sweep.run()
    points = w.points
    assert len(points) == 8 and sorted(set(points["loss"])) == [0.001, 0.02]
    assert sorted(set(points["delay_s"])) == [0.005, 0.02] and points.units["delay_s"] == "s"
    assert points["algorithm"][:2] == ["reno", "cubic"]
    # The runs already have a column of the flow's own algorithm.
    assert set(w.flows["axis_algorithm"]) == {"reno", "cubic"} and w.flows["loss"][0] == 0.001
    assert len(w) == 32


def test_all_executors_give_the_same_tables(sweep, tmp_path, lossy, command):
    sweep.run(tmp_path / "one", jobs=1)
    sweep.run(tmp_path / "two", jobs=2)
    with ThreadPoolExecutor(2) as executor:
        sweep.run(tmp_path / "threads", executor=executor)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        sweep.run(tmp_path / "processes", executor=executor)
    expected = tables(tmp_path / "one")
    assert all(tables(tmp_path / who) == expected for who in ("two", "threads", "processes"))
    # The command's tables are equal too, except for the command in Parquet's metadata.
    file = tmp_path / "scenario.toml"
    file.write_text(_native.toml_of(lossy._tree))
    axes = [word for key, values in AXES.items() for word in ("--axis", f"{key}={','.join(values)}")]
    command("sweep", file, *axes, "--seeds", "4", "--out", tmp_path / "command")
    assert (tmp_path / "command/points.csv").read_bytes() == expected["points.csv"]


def test_sweep_with_until_makes_the_same_runs_on_an_executor(lossy, tmp_path):
    sweep = wl.Sweep(lossy, {"flow.*.algorithm": ["reno", "cubic"]}, until="flow.*.goodput_bps ±20%", min_seeds=4, max_seeds=16)
    sweep.run(tmp_path / "here")
    with ThreadPoolExecutor(2) as executor:
        elsewhere = sweep.run(tmp_path / "elsewhere", executor=executor)
    assert tables(tmp_path / "here") == tables(tmp_path / "elsewhere")
    assert set(elsewhere.points["standing"]) <= {"narrow", "not-narrow"}


def test_no_run_is_lost_with_a_killed_process(sweep, tmp_path, dying):
    sweep.run(tmp_path / "whole")
    with pytest.raises(wl.RunError, match="resumes"):
        sweep.run(tmp_path / "killed", executor=dying)
    kept = len(wl.load(tmp_path / "killed"))
    assert 5 <= kept < 32
    told = []
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as again:
        sweep.run(tmp_path / "killed", executor=again, progress=lambda made, total: told.append((made, total)))
    assert told[-1] == (32 - kept, 32 - kept)
    assert tables(tmp_path / "killed") == tables(tmp_path / "whole")


def test_dask_loses_no_run_with_two_of_four_workers(sweep, tmp_path):
    distributed = pytest.importorskip("distributed")
    sweep.run(tmp_path / "whole")
    with (
        distributed.LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        # A nanny would restart killed workers, so that the test would not show that the others do the work.
        pids = list(client.run(os.getpid).values())[:2]
        killed = threading.Event()

        def kill(made: int, total: int) -> None:
            if made >= 3 and not killed.is_set():
                killed.set()
                for pid in pids:
                    os.kill(pid, signal.SIGKILL)

        sweep.run(tmp_path / "dask", executor=client, progress=kill)
    assert killed.is_set()
    assert tables(tmp_path / "dask") == tables(tmp_path / "whole")
    assert len((tmp_path / "dask/journal.jsonl").read_text().splitlines()) == len((tmp_path / "whole/journal.jsonl").read_text().splitlines())


def test_ray_repeats_the_runs_of_a_killed_worker(sweep, tmp_path):
    ray = pytest.importorskip("ray")
    sweep.run(tmp_path / "whole")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    killed = []

    def kill(made: int, total: int) -> None:
        if made >= 3 and not killed:
            found = subprocess.run(["pgrep", "-f", "^ray::(_work_on|IDLE)"], capture_output=True, text=True).stdout
            killed.extend(int(pid) for pid in found.split())
            os.kill(killed[0], signal.SIGKILL)

    try:
        sweep.run(tmp_path / "ray", executor=ray, progress=kill)
    finally:
        ray.shutdown()
    assert killed and tables(tmp_path / "ray") == tables(tmp_path / "whole")


def test_ctrl_c_keeps_finished_runs(lossy, tmp_path):
    long = wl.Sweep(lossy.set("duration", "100s"), AXES, seeds=50)

    def interrupt(made: int, total: int) -> None:
        if made >= 3:
            raise KeyboardInterrupt

    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        long.run(tmp_path / "r", progress=interrupt)
    assert time.monotonic() - begun < 30
    assert 3 <= len(wl.load(tmp_path / "r")) < 400


def test_invalid_arguments_are_rejected(lossy):
    for axes, kind, says in [
        ({"link.0.rat": ["1Mbps"]}, {}, "did you mean `rate`"),
        ({"link.0.delay": []}, {}, "value is empty"),
        ({"link.0.delay": "5ms..1ms step 1ms"}, {}, "no values"),
        ({}, {"metrics": "flow.c.goodput_bps"}, "flow"),
        ({}, {"until": "flow.*.goodput_bps"}, "±"),
        ({}, {"seeds": 0}, "at least one run"),
    ]:
        with pytest.raises(wl.InputError, match=says):
            wl.Sweep(lossy, axes, **kind)
    with pytest.raises(wl.InputError, match="executor: invalid type int"):
        wl.Sweep(lossy, seeds=1).run(executor=3)


def test_an_order_of_another_version_is_refused(lossy):
    with pytest.raises(wl.InputError, match="not an order"):
        wl.work_on("{}")
    order = {"version": "0.0.0", "name": "x", "seed": 1, "scenario": lossy.to_toml()}
    assert "use the same version everywhere" in json.loads(wl.work_on(json.dumps(order)))["refused"]


def test_a_sweep_draws_lines_over_its_numbers(sweep):
    ax = sweep.run().plot(x="delay_s")
    assert ax.get_ylabel() == "goodput (kbit/s)" and ax.get_xlabel() == "delay (ms)"
    assert len(ax.get_legend().get_texts()) == 4
