# SPDX-License-Identifier: Apache-2.0
"""On a GPU: kernels of the tree as a plugin get the records of the same built in, but for their names."""
import pytest

from command_line import cases, of_kind, records

# What tells where a kernel comes from and how long a case took.
APART = ("loaded", "code", "not_checked", "seconds", "repro")


def outcomes(these):
    """Cases without what differs between a plugin and a kernel built in, sorted.  A skipped one tells how much memory was free."""
    rest = [
        {key: value for key, value in case.items() if key not in APART and (key != "reason" or case["verdict"] != "skipped")}
        for case in these
    ]
    return sorted(({**case, "kernel": case["kernel"].removesuffix("_again")} for case in rest), key=repr)


@pytest.fixture(scope="module")
def plugin(plugins):
    return plugins / "own.so"


@pytest.fixture(scope="module")
def theirs(validate, plugin):
    said = validate("run --backend cuda --skip-exit 77 --suite smoke --quiet --json theirs.jsonl --plugin", plugin, code=None)
    if said.code == 77:
        pytest.skip(said.all.strip())
    assert said.code == 0, said.all
    return cases("theirs.jsonl")


@pytest.mark.parametrize("kernel", ["softmax/warp_row", "layernorm/warp_row", "linear/mma_tiled"])
def test_records_are_those_of_the_kernel_built_in(validate, theirs, kernel):
    validate(f"run --backend cuda --kernel {kernel} --suite smoke --json ours.jsonl")
    op = kernel.split("/")[0]
    ours = cases("ours.jsonl")
    assert ours
    assert outcomes(ours) == outcomes(case for case in theirs if case["op"] == op)


def test_doctor(validate, theirs, plugin):
    validate("doctor --backend cuda --plugin", plugin)


def test_both_are_timed_in_turns(validate, theirs, plugin):
    words = ["--plugin", plugin, "--shape", "rows=4096 cols=1024"]
    validate("bench --op softmax --kernel warp_row,warp_row_again --dtype f16 --times-only --json times.jsonl", *words)
    rows = [row for row in of_kind("bench", records("times.jsonl")) if row.get("processes") == 6]
    timed = [row["kernel"] for row in rows if row["kernel"].startswith("warp_row")]  # besides what bench compares with
    assert sorted(timed) == ["warp_row", "warp_row_again"]
