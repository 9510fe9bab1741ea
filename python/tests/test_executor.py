# SPDX-License-Identifier: Apache-2.0
"""validate(executor=...): a run in parts gives the records of an unbroken run, also where workers are lost on the way."""

import functools
import os
import signal
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import kernels
import pytest

import assay
from assay import shards

OPTIONS = {"suite": "smoke", "dtypes": ["f32"]}


def dies_on_the_way(flag, arguments, number, count):
    """Runs a shard, and the first time kills its own process meanwhile."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return shards.run_shard(arguments, number, count)
    threading.Thread(target=shards.run_shard, args=(arguments, number, count), daemon=True).start()
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGKILL)


class Losing(Executor):
    """Passes work on, and one of its workers is killed."""

    def __init__(self, inner, flag):
        self._inner = inner
        self._flag = str(flag)

    def submit(self, fn, /, *args, **kwargs):
        assert fn is shards.run_shard and not kwargs
        return self._inner.submit(dies_on_the_way, self._flag, *args)

    def shutdown(self, wait=True, *, cancel_futures=False):
        self._inner.shutdown(wait, cancel_futures=cancel_futures)


class OneLost(Executor):
    """Says of the first piece of work that its worker was lost, as Dask does, and goes on."""

    lost = False

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        if not self.lost:
            self.lost = True
            future.set_exception(RuntimeError("KilledWorker"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def cases(run):
    """What must not depend on who ran it.  Power (faults) is judged over a whole run alone."""
    kept = [{k: v for k, v in c.items() if k not in ("seconds", "loaded", "faults")} for c in run.cases]
    return sorted(kept, key=lambda c: c["repro"])


@pytest.fixture(scope="module", name="whole")
def whole_run():
    return assay.validate("softmax", kernels.softmax, **OPTIONS)


def test_a_process_pool(whole):
    with ProcessPoolExecutor(2) as pool:
        run = assay.validate("softmax", kernels.softmax, **OPTIONS, executor=pool, shards=3)
    assert cases(run) == cases(whole) and run.records[0]["merged"] == 3 and "3 of 3 shards" in run.text


@pytest.mark.parametrize("again", [True, False])
def test_a_process_that_is_killed(whole, tmp_path, again):
    flag = tmp_path / "killed"
    make = functools.partial(Losing, ProcessPoolExecutor(2), flag)
    if again:

        def make():
            return Losing(ProcessPoolExecutor(2), flag)

    run = assay.validate("softmax", kernels.softmax, **OPTIONS, executor=make if again else make(), shards=3)
    assert flag.exists() and cases(run) == cases(whole)


def test_a_worker_that_is_lost(whole):
    executor = OneLost()
    run = assay.validate("softmax", kernels.softmax, **OPTIONS, executor=executor, shards=2)
    assert executor.lost and cases(run) == cases(whole)


class AllLost(Executor):
    def __init__(self, error):
        self._error = error

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_exception(self._error)
        return future


def test_all_workers_are_lost(whole):
    with pytest.raises(assay.Error, match="the workers of shards 1, 2 were lost 3 times"):
        assay.validate("softmax", kernels.softmax, **OPTIONS, executor=AllLost(RuntimeError()), shards=2)
    run = assay.validate("softmax", kernels.softmax, **OPTIONS, executor=AllLost(BrokenProcessPool()), shards=2)
    assert cases(run) == cases(whole)


def test_failures_are_merged():
    with pytest.raises(assay.Mismatch, match="smallest   rows=129 cols=1"):
        assay.validate("softmax", kernels.skips_rows, **OPTIONS, executor=OneLost(), shards=2)


@pytest.mark.parametrize(
    "options, message",
    [({"shards": 0}, "shards is 0, and at least 1 was expected"), ({"isolation": "none"}, "isolation='process' is needed")],
)
def test_bad_options(options, message):
    with pytest.raises(assay.InputError, match=message):
        assay.validate("softmax", kernels.softmax, executor=OneLost(), **options)


def test_dask(whole, tmp_path):
    """Four workers, of which one is killed while it runs a shard; its nanny starts another."""
    distributed = pytest.importorskip("distributed")
    flag = tmp_path / "killed"
    with distributed.LocalCluster(4, threads_per_worker=1, dashboard_address=None) as cluster, distributed.Client(
        cluster
    ) as client:
        run = assay.validate("softmax", kernels.softmax, **OPTIONS, executor=Losing(client.get_executor(), flag), shards=4)
    assert flag.exists() and cases(run) == cases(whole)
