"""Classes as algorithms of every function and of the command, here and on other processes."""

import json
import os
import signal
import subprocess
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from mine import Scalable

import windlass as wl

ALGORITHMS = ["reno", "cubic", Scalable]
FILES = ("ranking.csv", "harm.csv", "summary.parquet", "links.parquet")


def pool(workers=2):
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


def compared(scenario, folder, seeds=4, **given):
    c = wl.compare(scenario, ALGORITHMS, seeds=seeds, folder=folder, **given)
    return repr(c), (folder / "summary.parquet").read_bytes(), c.ranking.to_dict(), c.harm.to_dict()


def test_comparison_with_a_killed_process_has_the_bytes_of_a_serial_one(lossy, tmp_path, dying):
    serial = compared(lossy, tmp_path / "serial", jobs=1)
    assert "Scalable" in serial[2]["algorithm"]
    with pytest.raises(wl.RunError, match="resumes"):
        compared(lossy, tmp_path / "pool", executor=dying)
    kept = len(wl.load(tmp_path / "pool"))
    assert 5 <= kept < 60
    with pool() as again:
        assert compared(lossy, tmp_path / "pool", executor=again) == serial


def test_a_class_runs_in_a_sweep_on_other_processes(lossy, tmp_path):
    sweep = wl.Sweep(lossy, {"link.0.delay": ["5ms", "20ms"], "flow.*.algorithm": ["reno", Scalable]}, seeds=2)
    here = sweep.run(tmp_path / "here")
    assert set(here.points["algorithm"]) == {"reno", "Scalable"}
    with pool() as executor:
        sweep.run(tmp_path / "there", executor=executor)
    for name in ("points.csv", "points.parquet", "summary.parquet"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()


@pytest.fixture(scope="module")
def thirty(tmp_path_factory):
    """A comparison over 30 seeds: its scenario, and the result of one machine."""
    s = wl.Scenario(duration="4s").link("server", "client", rate="2Mbps", delay="20ms", loss="1%", queue="20pkt")
    s = s.flow("server", "client", name="a", algorithm="reno").flow("server", "client", name="b", algorithm="cubic")
    return s, compared(s, tmp_path_factory.mktemp("serial"), seeds=30)


class Killer:
    """Kills processes after some runs have been made, as `progress`."""

    def __init__(self, pids):
        self.pids, self.killed = pids, []

    def __call__(self, made, total):
        if made >= 20 and not self.killed:
            self.killed = self.pids()
            for pid in self.killed:
                os.kill(pid, signal.SIGKILL)


def test_a_comparison_of_a_class_on_dask_with_a_killed_worker_has_the_bytes_of_one_machine(thirty, tmp_path):
    distributed = pytest.importorskip("distributed")
    scenario, serial = thirty
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())
        kill = Killer(lambda: pids[:1])
        assert compared(scenario, tmp_path / "dask", seeds=30, executor=client, progress=kill) == serial
    assert kill.killed


def test_a_comparison_of_a_class_on_ray_with_a_killed_worker_has_the_bytes_of_one_machine(thirty, tmp_path):
    ray = pytest.importorskip("ray")
    scenario, serial = thirty
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": os.path.dirname(__file__)}})

    def workers():
        found = subprocess.run(["pgrep", "-f", "^ray::(_work_on|IDLE)"], capture_output=True, text=True).stdout
        return [int(pid) for pid in found.split()][:1]

    kill = Killer(workers)
    try:
        assert compared(scenario, tmp_path / "ray", seeds=30, executor=ray, progress=kill) == serial
    finally:
        ray.shutdown()
    assert kill.killed


def test_a_class_is_chosen_and_attacked(lossy):
    advice = wl.choose(lossy, ["reno", Scalable], aim="goodput", seeds=6)
    assert {advice.algorithm, *advice.alike} <= {"reno", "Scalable"} and "networks" in repr(advice)
    attack = wl.break_(Scalable, runs=25)
    assert attack.details["algorithm"] == "Scalable" and attack.damage > attack.unharmed
    again = wl.run(attack.scenario).flows
    assert again["algorithm"][0] == "Scalable"


def test_the_declared_recovery_is_that_of_the_class(lossy):
    class Simple(wl.WindowController):
        recovery = "reno"

    alone = lossy.set("stack.preset", "rfc")
    declared = wl.run(alone, controllers=Simple).flows.to_dict()
    told = wl.run(alone.set("stack.recovery", "reno"), controllers=wl.WindowController).flows.to_dict()
    usual = wl.run(alone.set("stack.recovery", "sack"), controllers=wl.WindowController).flows.to_dict()
    columns = [name for name in declared if name not in ("algorithm", "scenario_hash")]
    assert {c: declared[c] for c in columns} == {c: told[c] for c in columns}
    assert declared["goodput_bps"] != usual["goodput_bps"]
    Simple.recovery = "fast"
    with pytest.raises(wl.InputError, match="declares the recovery `fast`; expected one of tahoe, reno"):
        wl.run(alone, controllers=Simple)


def test_a_folder_keeps_the_runs_of_each_version_of_a_class(lossy, tmp_path):
    wl.run(lossy, seeds=2, controllers=Scalable, folder=tmp_path)
    told = []
    wl.run(lossy, seeds=2, controllers=Scalable, folder=tmp_path, progress=lambda made, total: told.append(made))
    assert max(told) == 0, "the runs are there already"

    class Other(Scalable):
        def threshold(self, conn, cause):
            return 2 * conn.mss

    Other.__name__, Other.__qualname__, Other.__module__ = "Scalable", "Scalable", "mine"
    wl.run(lossy, seeds=2, controllers=Other, folder=tmp_path)
    assert len(wl.load(tmp_path)) == 4


def test_what_a_class_cannot_do_is_refused(lossy):
    class Local(wl.WindowController):
        pass

    with pool(1) as executor, pytest.raises(wl.InputError, match="define it at the top level of a module"):
        wl.run(lossy, controllers=Local, executor=executor)
    for algorithm, says in [
        ("python:mine:Nothing", "has no class 'Nothing'"),
        ("python:nowhere:X", "module 'nowhere' cannot be imported"),
        ("python:os:PathLike", "is not an algorithm"),
        ("python:mine:Scalable@00000000", "another version of the class"),
        ("python:mine:Scalable/nothing", "algorithm `nothing` not found"),
    ]:
        with pytest.raises(wl.InputError, match=says):
            wl.compare(lossy, ["reno", algorithm], seeds=1)
    with pytest.raises(wl.InputError, match="is not an algorithm"):
        wl.compare(lossy, ["reno", int], seeds=1)


def test_shards_of_the_command_compare_and_assess_classes(lossy, tmp_path, command, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(__file__))
    file = tmp_path / "lossy.toml"
    file.write_text(lossy.to_toml())
    given = ("compare", file, "--algorithms", "reno,python:mine:Scalable", "--seeds", "3")
    for shard in ("1/2", "2/2"):
        said = command(*given, "--out", tmp_path / "shards", "--shard", shard)
        assert f"shard {shard} is done" in said.stderr and "ranking" not in said.stdout
    assert not (tmp_path / "shards/ranking.csv").exists()
    whole = command(*given, "--out", tmp_path / "whole").stdout
    assert command(*given, "--out", tmp_path / "shards").stdout == whole
    for name in FILES:
        assert (tmp_path / "shards" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assess = ("assess", "python:mine:Scalable", "--only", "bufferbloat.wait.10M-40ms-8bdp", "--seeds", "2", "--out")
    for shard in ("1/2", "2/2"):
        command(*assess, tmp_path / "a", "--shard", shard)
    command(*assess, tmp_path / "a")
    command(*assess, tmp_path / "b")
    [a, b] = [next((tmp_path / name).rglob("scorecard.json")) for name in "ab"]
    assert json.loads(a.read_text())["families"][0]["grade"] == json.loads(b.read_text())["families"][0]["grade"]
