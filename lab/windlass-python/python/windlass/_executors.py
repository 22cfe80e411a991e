"""Runs on other processes and machines: each run is sent as a message, and one process collects and stores the results."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor
from concurrent.futures import TimeoutError as Unfinished
from typing import Any, TypeAlias

from . import _native
from ._errors import InputError, RunError

_LOOK_EVERY_S = 0.2
Elsewhere: TypeAlias = "tuple[Callable[[str, Callable[[], bool]], str], int] | None"
"""A function that sends an order and waits for its answer, unless the work stops, and the number of orders to send together."""


def engine(executor: Any) -> Elsewhere:
    """The function for an executor."""
    if executor is None:
        return None
    if isinstance(executor, Executor):
        return _futures(executor)
    kind = type(executor).__module__.partition(".")[0]
    if kind == "distributed":
        return _dask(executor)
    if getattr(executor, "__name__", "") == "ray":
        return _ray(executor)
    raise InputError(
        f"executor: invalid type {type(executor).__name__}; give a concurrent.futures.Executor, a dask.distributed.Client or the module ray"
    )


def _futures(executor: Executor) -> Elsewhere:
    def send(order: str, stopped: Callable[[], bool]) -> str:
        try:
            future = executor.submit(_native.work_on, order)
            while True:
                try:
                    return future.result(timeout=_LOOK_EVERY_S)
                except Unfinished:
                    if stopped():
                        future.cancel()
                        raise KeyboardInterrupt from None
        except BrokenExecutor as e:
            raise RunError(
                "a process of the executor has died, so that the executor is unusable; finished runs stay in the folder, if there is a folder, "
                "and the same call with a new executor resumes"
            ) from e

    # One more than the processes, so that none waits for its next order.
    return send, int(getattr(executor, "_max_workers", None) or os.cpu_count() or 1) + 1


def _dask(client: Any) -> Elsewhere:
    def send(order: str, stopped: Callable[[], bool]) -> str:
        # A run is a pure function of its order: another worker repeats a run that is lost with a worker.
        future = client.submit(_native.work_on, order, pure=True, retries=10)
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        while not done.wait(_LOOK_EVERY_S):
            if stopped():
                future.cancel()
                raise KeyboardInterrupt
        return str(future.result())

    return send, max(1, sum(client.nthreads().values())) + 2


def _work_on(order: str) -> str:
    # Ray accepts only Python functions.
    return _native.work_on(order)


def _ray(ray: Any) -> Elsewhere:
    if not ray.is_initialized():
        ray.init()
    remote = ray.remote(max_retries=10)(_work_on)

    def send(order: str, stopped: Callable[[], bool]) -> str:
        waiting = remote.remote(order)
        while True:
            ready, _ = ray.wait([waiting], timeout=_LOOK_EVERY_S)
            if ready:
                return str(ray.get(waiting))
            if stopped():
                ray.cancel(waiting)
                raise KeyboardInterrupt

    return send, int(ray.cluster_resources().get("CPU", 1)) + 2
