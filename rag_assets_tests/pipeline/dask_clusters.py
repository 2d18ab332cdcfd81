"""Real Dask clusters of this machine, and builds that use them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import forkserver

import pytest
from distributed import LocalCluster

from rag_assets.pipeline.workers.process_pool import _PRELOADED
from rag_assets.pipeline.workers.worker_pool import rest_workers
from rag_assets.settings import ExecutionSettings


@pytest.fixture(scope="module", autouse=True)
def copied_workers() -> None:
    """Workers of Dask and local ones are copies of one process, which has loaded what both need."""
    forkserver.set_forkserver_preload([*_PRELOADED, "rag_assets.pipeline.workers.dask_pool", "distributed.nanny"])
    forkserver.ensure_running()


@contextmanager
def local_cluster(workers: int) -> Iterator[LocalCluster]:
    """A scheduler with so many worker processes; without any, `worker` starts them."""
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0") as made:
        try:
            yield made
        finally:
            rest_workers()


@contextmanager
def worker(cluster: LocalCluster, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A worker as somebody starts it by hand, with more in its environment."""
    command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address]
    options = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
    with subprocess.Popen(
        [*command, *options], env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def on(cluster: LocalCluster) -> ExecutionSettings:
    return ExecutionSettings(workers="dask", dask_scheduler=cluster.scheduler_address)
