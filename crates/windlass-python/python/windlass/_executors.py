"""Runs on other processes and machines: jobs are sent as messages, and one process collects and stores the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from . import _native
from ._errors import InputError, RunError


def work(sweep: _native.Sweep, executor: Any, tell: Callable[[int, int], None] | None) -> None:
    """Makes the missing runs in rounds. A sweep with ``until`` adds runs and has several rounds."""
    finished = _engine(executor)
    made = 0
    while jobs := sweep.jobs():
        total = made + len(jobs)
        for outcome in finished(jobs):
            sweep.take(outcome)
            made += 1
            if tell is not None:
                tell(made, total)


def _engine(executor: Any) -> Callable[[list[str]], Iterator[str]]:
    if isinstance(executor, Executor):
        return lambda jobs: _futures(executor, jobs)
    kind = type(executor).__module__.partition(".")[0]
    if kind == "distributed":
        return lambda jobs: _dask(executor, jobs)
    if getattr(executor, "__name__", "") == "ray":
        return lambda jobs: _ray(executor, jobs)
    raise InputError(
        f"executor: invalid type {type(executor).__name__}; give a concurrent.futures.Executor, a dask.distributed.Client or the module ray"
    )


def _futures(executor: Executor, jobs: Iterable[str]) -> Iterator[str]:
    futures = [executor.submit(_native.work_on, job) for job in jobs]
    try:
        for future in as_completed(futures):
            yield future.result()
    except BrokenProcessPool as e:
        raise RunError(
            "a process of the executor has died, so that the executor is unusable; finished runs stay in the sweep's folder, if it has a folder, "
            "and the same call with a new executor resumes the sweep"
        ) from e
    finally:
        for future in futures:
            future.cancel()


def _dask(client: Any, jobs: list[str]) -> Iterator[str]:
    from distributed import as_completed as completed

    # A run is a pure function of its message: another worker repeats a run that is lost with a worker.
    futures = client.map(_native.work_on, jobs, pure=True, retries=10)
    try:
        for future in completed(futures):
            yield future.result()
    finally:
        client.cancel(futures)


def _work_on(job: str) -> str:
    # Ray accepts only Python functions.
    return _native.work_on(job)


def _ray(ray: Any, jobs: list[str]) -> Iterator[str]:
    if not ray.is_initialized():
        ray.init()
    remote = ray.remote(max_retries=10)(_work_on)
    waiting = [remote.remote(job) for job in jobs]
    while waiting:
        ready, waiting = ray.wait(waiting)
        yield from ray.get(ready)
