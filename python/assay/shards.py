# SPDX-License-Identifier: Apache-2.0
"""A run in parts, each on a worker of somebody's executor, merged by `validate merge`."""

from __future__ import annotations

import json
import tempfile
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

from . import library
from .errors import Error, InputError

TRIES = 3  # of a shard whose worker was lost


def run_shard(arguments: Sequence[str], number: int, count: int) -> tuple[library.Called, bytes]:
    """Runs one part.  Returns what the call left, and the record file.  Runs in a process of the executor."""
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        path = Path(folder) / "shard.jsonl"
        called = library.call([*arguments, "--shard", f"{number}/{count}", "--json", str(path)])
        return called, path.read_bytes()


def run(
    arguments: Sequence[str], executor: Executor | Callable[[], Executor], count: int
) -> tuple[library.Called, list[Mapping[str, Any]]]:
    """Runs all parts and merges them.  Returns what the merge left, with the texts of the parts before, and its records.

    Raises:
        InputError: `count` is less than 1, or a part refuses its input.
        Error: a part was lost with its worker TRIES times.
    """
    if count < 1:
        raise InputError(f"shards is {count}, and at least 1 was expected")
    own = None if isinstance(executor, Executor) else executor()
    done: dict[int, tuple[library.Called, bytes]] = {}
    try:
        for _ in range(TRIES):
            using = own or executor
            assert isinstance(using, Executor)
            broken = _round(arguments, using, count, done)
            if len(done) == count:
                break
            if broken and own is not None:
                own.shutdown(wait=False, cancel_futures=True)
                own = executor()  # type: ignore[operator]
            elif broken:  # nobody can make another one, so that this process does the rest
                for number in range(1, count + 1):
                    if number not in done:
                        done[number] = run_shard(arguments, number, count)
        lost = [str(number) for number in range(1, count + 1) if number not in done]
        if lost:
            raise Error(f"the workers of shards {', '.join(lost)} were lost {TRIES} times")
    finally:
        if own is not None:
            own.shutdown(wait=False, cancel_futures=True)
    return _merged(done, count)


def _round(arguments: Sequence[str], executor: Executor, count: int, done: dict[int, tuple[library.Called, bytes]]) -> bool:
    """Submits what is not done and waits for it.  Returns whether the executor takes no more work."""
    futures: dict[int, Future[tuple[library.Called, bytes]]] = {}
    broken = False
    for number in range(1, count + 1):
        if number not in done:
            try:
                futures[number] = executor.submit(run_shard, list(arguments), number, count)
            except (BrokenExecutor, RuntimeError):
                broken = True
                break
    for number, future in futures.items():
        try:
            done[number] = future.result()
        except BrokenExecutor:
            broken = True
        except Error:
            raise
        except (Exception, CancelledError):  # pylint: disable=broad-except  # each executor has its own for a lost worker
            pass
    return broken


def _merged(done: Mapping[int, tuple[library.Called, bytes]], count: int) -> tuple[library.Called, list[Mapping[str, Any]]]:
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        paths = []
        for number in range(1, count + 1):
            paths.append(Path(folder) / f"{number}.jsonl")
            paths[-1].write_bytes(done[number][1])
        merged = Path(folder) / "merged.jsonl"
        called = library.call(["merge", *map(str, paths), "--json", str(merged)])
        lines = [json.loads(line) for line in merged.read_text(encoding="utf-8").splitlines()]
    failed = [done[number][0].out for number in sorted(done) if done[number][0].code == 1]
    return library.Called(called.code, "\n".join([*failed, called.out]), called.err), lines
