# SPDX-License-Identifier: Apache-2.0
"""Kills a run at random moments, resumes it, kills that at random too, and so on: the record of the run that ends must equal that of
an unbroken run, but for times.  `--kills` says how often, `--seed` which moments."""
import os
import random
import shutil
import time
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGKILL, SIGTERM

import pytest

from command_line import HANGS, SOURCES, Program, lines, running, untimed, wait_until, was_interrupted

SOME = "run --backend simt --suite smoke --op softmax --kernel naive --dtype f16 --quiet"
SIGNALS = [(SIGKILL,), (SIGTERM,), (SIGINT,), (SIGINT, SIGINT), (SIGHUP,)]
PART = Path("part.jsonl")


@pytest.fixture(scope="module")
def judge(validate, folder):
    """A copy of the command: a program of its own, so that its processes can be counted."""
    datasets = os.environ.get("ASSAY_DATASETS") or os.fspath(SOURCES / "datasets")
    return Program(shutil.copy(validate, folder / "judge"), env={"ASSAY_DATASETS": datasets})


def killed(judge, draw, lasts):
    """Resumes the run and sends it signals at a moment when it is likely to be at work; returns these and its exit code."""
    signals = draw.choice(SIGNALS)
    with judge.started(f"{SOME} --resume {PART}") as process:
        time.sleep(draw.uniform(0, lasts * 9 / 8))
        for number in signals:
            process.send_signal(number)
            if len(signals) > 1:
                time.sleep(draw.uniform(0, 0.03))
        return signals, process.wait(HANGS)


def check_part(signals, code):
    """What a run may leave that ended in the middle."""
    assert code in (130, -SIGKILL, -SIGTERM, -SIGHUP), Path("err").read_text()
    assert (code == -SIGKILL) == (signals == (SIGKILL,))
    written = PART.exists() and PART.stat().st_size > 0
    if code == 130 and written:
        assert was_interrupted(PART)
    if code in (-SIGTERM, -SIGHUP) and written:  # a signal ends the program at once before it has installed its handlers
        assert '"interrupted":false' not in lines(PART)[-1]


def test_kills(judge, pytestconfig):
    wanted = pytestconfig.getoption("--kills")
    seed = pytestconfig.getoption("--seed") or random.randrange(2**31)
    print(f"--kills {wanted} --seed {seed}")  # a failure shows it
    draw = random.Random(seed)
    begin = time.monotonic()
    judge(f"{SOME} --json unbroken.jsonl")
    lasts = time.monotonic() - begin
    unbroken = untimed("unbroken.jsonl")
    kills = 0
    while kills < wanted:
        signals, code = killed(judge, draw, lasts)
        if code == 0:
            assert untimed(PART) == unbroken
            PART.unlink()
            continue
        check_part(signals, code)
        kills += 1
    judge(f"{SOME} --resume {PART}")
    assert untimed(PART) == unbroken
    wait_until(lambda: not running(judge))
