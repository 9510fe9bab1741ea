# SPDX-License-Identifier: Apache-2.0
"""Tests that a file has one writer, that pipes and links in the place of a file do no harm, and that a run ends soon, with a last
record, whatever it is at."""
import contextlib
import json
import os
import resource
import signal
from pathlib import Path

import pytest

from command_line import HANGS, has_cases, lines, read, records, records_in, state, values, wait_until, was_interrupted, write

QUICK = "run --backend simt --suite sanitize --op softmax --kernel naive"
LONG = "run --backend simt --suite full --op softmax --timeout 86400"


@contextlib.contextmanager
def stopped_run(validate, path):
    """A run that writes the file, stopped after its first cases, so that it does not end before it is told to."""
    Path(path).unlink(missing_ok=True)
    with validate.started(f"{LONG} --json {path}") as process:
        wait_until(lambda: has_cases(path) or process.poll() is not None)
        assert process.poll() is None, f"the run has ended: {read('err')}"
        process.send_signal(signal.SIGSTOP)
        yield process


def end(process, *signals):
    """Sends signals to a process that is stopped, and lets it go on; returns its exit code."""
    for number in signals:
        process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    return process.wait(HANGS)


@pytest.fixture(scope="module")
def quick(validate, folder):
    """The file of a run."""
    validate(f"{QUICK} --json quick.jsonl")
    return "quick.jsonl"


@pytest.fixture(scope="module", autouse=True)
def kept(folder):
    """A file that no run may change, under two names, and a pipe that nobody reads."""
    write("kept", "precious\n")
    os.link("kept", "hard")
    os.mkfifo("pipe")
    return "kept"


# --- one file, one writer


def test_one_writer(validate):
    os.symlink("busy.jsonl", "link.jsonl")
    with stopped_run(validate, "busy.jsonl") as process:
        for name in ("busy.jsonl", "./busy.jsonl", "link.jsonl"):
            validate.refuses(f"'{name}' is being written by another run", f"{QUICK} --json {name}")
            validate.refuses(f"'{name}' is being written by another run", f"{LONG} --resume {name}")
        for line in ("probe", "bench --op softmax --kernel naive --shape 'rows=4 cols=8'"):
            validate.refuses("is being written by another run", f"{line} --backend simt --json busy.jsonl")
        assert end(process, signal.SIGHUP) == 130
    assert was_interrupted("busy.jsonl")
    validate(f"{QUICK} --json busy.jsonl")  # free again
    validate(f"{QUICK} --json link.jsonl")  # through the link
    assert os.path.islink("link.jsonl")


# --- one file under two names


@pytest.mark.parametrize("flags", ["--json {} --junit {}", "--md {} --junit {}"])
@pytest.mark.parametrize("names", [("kept", "./kept"), ("kept", "../{folder}/kept"), ("new", "./new"), ("kept", "hard")])
def test_two_names(validate, folder, kept, flags, names):
    names = [name.format(folder=folder.name) for name in names]
    validate.refuses("is named as two outputs", f"{QUICK} {flags.format(*names)}")
    assert read(kept) == "precious\n"


# --- links where a temporary file would be


def test_a_link_beside_a_file(validate, kept):
    os.symlink(kept, "results.xml.part")
    validate(f"{QUICK} --junit results.xml")
    assert read(kept) == "precious\n"


# --- pipes


@pytest.mark.parametrize("flag", ["json", "junit", "md", "resume"])
def test_a_pipe_without_a_reader(validate, flag):
    validate.refuses("pipe", f"{QUICK} --{flag} pipe")


def test_a_pipe_with_a_reader(validate, quick):
    reader = os.open("pipe", os.O_RDWR | os.O_NONBLOCK)  # which takes nothing yet
    validate(f"{QUICK} --json pipe")
    taken = b""
    with contextlib.suppress(BlockingIOError):
        while True:
            taken += os.read(reader, 1 << 20)
    os.close(reader)
    assert values("repro", records_in(taken.decode())) == values("repro", records(quick))


# --- signals: two of them leave an end record too


@pytest.mark.parametrize(
    "signals",
    [(signal.SIGINT, signal.SIGINT), (signal.SIGINT, signal.SIGTERM), (signal.SIGHUP, signal.SIGINT)],
    ids=lambda pair: " ".join(number.name for number in pair),
)
def test_two_signals(validate, signals):
    with stopped_run(validate, "twice.jsonl") as process:
        assert end(process, *signals) == 130
    assert was_interrupted("twice.jsonl")


# --- inputs and goldens that take long end with the run, the time limit and the budget.  A run that waited for them would use
# more than MOST seconds of processor time, of which it otherwise takes a few even on a slow host.

MOST = 60
SLOW = "attention_forward/naive f16 batch=1 seq_q=1048576 seq_k=0 heads=1 kv_heads=1 head_dim=64 seed=1"


@pytest.fixture(scope="module")
def limited(validate):
    """The command, which the system ends if it uses more than MOST seconds of processor time."""
    return validate.under(limits={resource.RLIMIT_CPU: MOST})


@pytest.fixture(scope="module")
def short_of_time(limited):
    """What is said where there is no time for the inputs and the golden of SLOW."""
    said = limited("replay --backend simt --timeout 10ms", SLOW, code=3)
    if "of memory and" in said.out:
        pytest.skip("there is too little memory for it")
    return said


@pytest.fixture(scope="module")
def slow(short_of_time, quick):
    """A file from which SLOW is judged again."""
    case = {"record": "case", "op": "attention_forward", "kernel": "naive", "dtype": "f16", "verdict": "failed", "repro": SLOW}
    return write("slow.jsonl", lines(quick)[0] + json.dumps(case, separators=(",", ":")) + "\n")


def test_no_time_for_a_golden(limited, short_of_time):
    assert "skipped: its inputs and golden take longer than 0.01 s" in short_of_time.out
    limited("replay --backend simt --partial --timeout 10ms", SLOW)


def test_no_budget_for_a_golden(limited, slow):
    said = limited(f"run --backend simt --last-failed {slow} --budget 300ms --json budget.jsonl", code=3)
    assert "skipped: the budget of 0.3 s was spent" in said.out


def is_at_work(process):
    """Whether a process has used 0.3 s of processor time, or has ended."""
    stat = read(f"/proc/{process.pid}/stat").rpartition(")")[2].split()
    return state(process.pid) not in tuple("RSDT") or int(stat[11]) > 30  # hundredths of a second


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_a_golden_is_made(limited, slow, number):
    Path("term.jsonl").unlink(missing_ok=True)
    with limited.started(f"run --backend simt --last-failed {slow} --timeout 86400 --json term.jsonl") as process:
        wait_until(is_at_work, process)
        process.send_signal(number)
        assert process.wait(HANGS) == 130
    assert was_interrupted("term.jsonl")


# --- what is empty costs nothing


@pytest.mark.parametrize(
    "flags, line",
    [
        ("--partial", "attention_forward f16 batch=1099511627776 seq_q=0 seq_k=0 heads=1 kv_heads=1 head_dim=64"),
        ("", "add f32 rows=1099511627776 cols=0"),
        ("", "add f32 rows=0 cols=1099511627776"),
    ],
)
def test_what_is_empty(limited, flags, line):
    limited(f"replay --backend simt {flags}", line)
