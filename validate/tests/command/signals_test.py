# SPDX-License-Identifier: Apache-2.0
"""Tests that a run ends on a signal without waiting for its workers, and leaves whole lines in its file and no worker."""
import contextlib
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from command_line import HANGS, children, has_cases, program_of, read, records, run, state, wait_until, was_interrupted

FULL = "run --backend simt --suite full --timeout 86400 --json run.jsonl"


@contextlib.contextmanager
def stopped_run(validate):
    """A run and its workers, stopped while they judge: its process and the ids of the workers."""
    Path("run.jsonl").unlink(missing_ok=True)
    with validate.started(FULL) as process:
        wait_until(lambda: state(process.pid) == "Z" or has_cases("run.jsonl", 21) and children(process.pid))
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: state(process.pid) not in tuple("RSD"))
        workers = children(process.pid)
        assert workers, f"workers were expected: {read('err')}"
        for worker in workers:
            os.kill(worker, signal.SIGSTOP)
        yield process, workers


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_signal(validate, number, code):
    with stopped_run(validate) as (process, workers):
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        assert process.wait(HANGS) == code
    assert records("run.jsonl")  # whole lines
    if code == 130:
        assert was_interrupted("run.jsonl")
        assert "interrupted" in read("out").splitlines()[-1]
        assert "goes on with --resume run.jsonl" in read("out")
    for worker in workers:
        wait_until(lambda: program_of(worker) != os.fspath(validate))


def test_the_reader_of_its_output_leaves(validate):
    said = validate.piped("run --backend simt --suite full --json run.jsonl", code=130)
    assert said.err == ""
    assert was_interrupted("run.jsonl")


def test_what_a_selfcheck_did_not_judge_is_not_called_missed(validate, binaries):
    if not os.path.exists(binaries / "sets/trial"):
        pytest.skip("the set 'trial' is not built")
    with validate.started("selfcheck --backend simt --suite full --md interrupted.md") as process:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        process.wait(HANGS)
    assert " missed" not in read("out")
    assert " caught so far · interrupted" in read("out")
    assert not os.path.exists("interrupted.md") or read("interrupted.md") == ""


# Becomes a program, after it has started a child.
SHELL = """
import os, subprocess, sys
print(subprocess.Popen(["sleep", "86400"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid, file=open("before", "w"), flush=True)
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_a_child_from_before_is_not_this_programs_to_end(validate):
    run(sys.executable, "-c", SHELL, validate, "replay", "--backend", "simt", "softmax/naive f16 rows=1 cols=9")
    before = int(read("before"))
    assert state(before) in ("R", "S")
    os.kill(before, signal.SIGTERM)
