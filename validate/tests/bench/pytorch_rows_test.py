# SPDX-License-Identifier: Apache-2.0
"""Tests reports/pytorch_rows.py: its rows have the names that bench records give them, and bad usage is refused.  If python3 (or
$ASSAY_PYTHON) has PyTorch: its expressions match their formulas and its records the schema."""
import os
import shutil
from pathlib import Path

import pytest

from command_line import SOURCES, Program, lines, of_kind, records, run, write

if not shutil.which(os.environ.get("ASSAY_PYTHON", "python3")):
    pytest.skip("no interpreter is here for PyTorch", allow_module_level=True)

QUIET = {"PYTHONDONTWRITEBYTECODE": "1"}
REPORTS = SOURCES / "reports"
python = Program(os.environ.get("ASSAY_PYTHON", "python3"), env={**QUIET, "PYTHONPATH": str(REPORTS)})
rows = Program(os.environ.get("ASSAY_PYTHON", "python3"), REPORTS / "pytorch_rows.py", env=QUIET)


# --- the rows
@pytest.fixture(scope="module")
def listed(folder):
    """The rows of every file of datasets/bench, then of every suite."""
    suites = sorted((SOURCES / "datasets/bench/suites").glob("*.json"))
    texts = [rows("--list").out] + [rows("--list --suite", suite.stem).out for suite in suites]
    return write("listed", "".join(texts))


def test_rows_are_named_as_bench_records_name_them(binaries, listed):
    said = run(binaries / "assay_tests", "[pytorch_rows]", env={"ASSAY_PYTORCH_ROWS": os.path.abspath(listed)})
    assert "All tests passed" in said.out


def test_rows_of_one_op_and_dtype():
    assert rows("--list --op softmax --dtype f16").out.splitlines()[0] == "softmax f16 rows=16384 cols=4096"


def test_the_text_of_a_row():
    shape = "fill=ones offset=.5 base=500000 rotary_dim=6.0 head_dim=8 kv_heads=2 heads=4 seq_q=2 batch=1"
    expected = "rope f32 batch=1 seq_q=2 heads=4 kv_heads=2 head_dim=8 rotary_dim=6 base=5e+05 offset=0.5 fill=ones\n"
    assert rows("--list --op rope --dtype f32 --shape", shape).out == expected


def test_one_row_is_listed_once():
    said = rows("--list --op add --dtype f16 --shape 'rows=1 cols=2' --shape 'cols=2 rows=1'")
    assert len(said.out.splitlines()) == 1


# --- bad input
@pytest.mark.parametrize(
    "part, line",
    [
        ("name a file", ""),
        ("--suite nonesuch", "--list --suite nonesuch"),
        ("--op nonesuch", "--list --op nonesuch"),
        ("unknown dtype 'f8'", "--list --dtype f8"),
        ("axis 'cols' is missing", "--list --op add --shape rows=2"),
        ("unknown key 'depth'", "--list --op add --shape 'rows=2 cols=2 depth=1'"),
        ("form=cosh", "--list --op gelu --shape 'rows=2 cols=2 form=cosh'"),
        ("--shape needs exactly one --op", "--list --shape 'rows=2 cols=2'"),
        ("cannot write", "/nonexistent/out.jsonl"),
        ("above 0", "out.jsonl --seconds 0"),
        ("above 0", "out.jsonl --budget 0"),
        ("above 0", "out.jsonl --compile-seconds nan"),
        ("nonexistent", "--list --datasets nonexistent"),
    ],
)
def test_wrong_words(part, line):
    rows.refuses(part, line)


# --- the clock: with hide_host a slow host adds no time, and a host that is too slow to hide does not loop forever
@pytest.fixture(scope="module")
def pretended():
    return python.works("", SOURCES / "validate/tests/pretended_torch.py")


@pytest.mark.parametrize(
    "times",
    [
        "quick: 30 times, 100 to 100 us, behind 1, 730 in all",  # a launch that needs no hiding
        "slow, as it is: 30 times, 656 to 739 us, behind 1, 171 in all",  # the host's time, where nobody hides it
        "slow, hidden: 30 times, 100 to 100 us, behind 16, 2168 in all",
        "beyond hiding: 30 times, 5294 to 5774 us, behind 64, 2488 in all",
    ],
)
def test_time_of_the_host(pretended, times):
    assert times in pretended.out


# --- without PyTorch the script says so; with it, values and records are checked
@pytest.fixture(scope="module")
def has_torch():
    return python("-c 'import torch'", code=None).code == 0


@pytest.fixture
def without_torch(has_torch):
    if has_torch:
        pytest.skip("PyTorch is here")


@pytest.fixture(scope="module")
def torch(has_torch):
    if not has_torch:
        pytest.skip("no PyTorch is here")


def test_no_pytorch(without_torch):
    assert "PyTorch cannot be imported" in rows("out.jsonl", code=77).err


def timed(path, line, **how):
    """Times rows on the CPU; returns the file of their records."""
    rows("", path, "--device", "cpu", "--seconds", "0.001", *line, **how)
    return Path(path)


LAYERNORM = ["--op", "layernorm_residual", "--shape", "rows=3 cols=8"]
HEADS = "batch=1 seq_q=4 seq_k=4 heads=2 kv_heads=1 head_dim=8 mask=causal"
ATTENTION = ["--op", "attention_forward", "--dtype", "f32", "--shape", HEADS, "--shape", f"{HEADS} window=2"]
RMSNORM = ["--op", "rmsnorm", "--dtype", "f32", "--shape", "rows=3 cols=8"]
COMPILED = ["--only-compile", "--op", "gelu", "--shape", "rows=3 cols=8", "--dtype", "f32"]


@pytest.fixture(scope="module")
def used_up(torch, folder):
    """Only torch.compile, and no time is left for it."""
    return timed("used_up.jsonl", [*COMPILED, "--budget", "0.01"])


@pytest.fixture(scope="module")
def recorded(torch, used_up):
    """Records of three ops in one file, by itself in its folder."""
    os.mkdir("records")
    path = timed("records/pytorch.jsonl", LAYERNORM)
    added = lines(timed("attention.jsonl", ATTENTION))[1:] + lines(used_up)[1:]
    write(path, "".join(lines(path) + added))
    return path


def left_out(path):
    """The kernels that were not timed, each with the reason."""
    return [(record["kernel"], record["left_out"]) for record in records(path) if "left_out" in record]


def test_expressions_match_their_formulas(torch):
    assert " 0 faults" in rows("--self-test").out


def test_one_variant_alone(torch):
    path = timed("some.jsonl", [*RMSNORM, "--kernel", "pytorch_eager_llama"])
    assert [record["kernel"] for record in of_kind("timing", records(path))] == ["pytorch_eager_llama"]


def test_the_budget_is_used_up(used_up):
    assert left_out(used_up) == [("pytorch_compile", "the time given was used up")]


def test_the_compiler_takes_too_long(torch):
    path = timed("late.jsonl", [*COMPILED, "--compile-seconds", "0.001"])
    assert left_out(path) == [("pytorch_compile", "not compiled within 0.001 s")]


def test_there_is_no_compiler(torch):
    nowhere = {"TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1", "CXX": "/nonexistent"}
    path = timed("no_compiler.jsonl", COMPILED, env={**QUIET, **nowhere})
    _, last = records(path)
    assert last["left_out"]


# On a GPU what was compiled is also timed as a graph, compiled once; what does not compile is not tried again.
GRAPHS = """
from types import SimpleNamespace as Row
from pytorch import timing
timing.Maker = lambda *_: None
timing.BUILDERS["gelu"] = lambda *_: [timing.Variant("eager", "f", lambda: "plain", compiled=True)]
for fails, kernels in ((False, ()), (True, ()), (False, ("pytorch_compile_graph",))):
    timer, compiled = timing.RowTimer("cpu", 1, 1, kernels), []
    timer.device, timer.clock = "cuda", Row(captured=lambda call: lambda: "a graph of " + call())

    def made(_):
        compiled.append(1)
        if fails:
            raise RuntimeError
        return lambda: "compiled"

    timer._compiled = made
    for v, prepare in timer._variants(Row(op="gelu", dtype="f16")):
        if kernels and v.kernel not in kernels:
            continue
        try:
            print(f"{v.kernel}: {prepare()()}, compiled {len(compiled)} times")
        except RuntimeError:
            print(f"{v.kernel}: fails")
"""


def test_what_was_compiled_as_a_graph(torch):
    said = python.works("", write("graphs.py", GRAPHS))
    assert said.out.splitlines() == [
        "pytorch_eager: plain, compiled 0 times",
        "pytorch_compile: compiled, compiled 1 times",
        "pytorch_compile_graph: a graph of compiled, compiled 1 times",
        "pytorch_eager: plain, compiled 0 times",
        "pytorch_compile: fails",
        "pytorch_compile_graph: a graph of compiled, compiled 1 times",
    ]


def test_rows_left_out_and_timed(recorded):
    found = records(recorded)
    assert sum("left_out" in record for record in found) == 9
    assert sum("time_us" in record for record in found) == 7


def test_records_match_the_schema(binaries, recorded):
    run(binaries / "assay_tests", "[recorded]", env={"ASSAY_RECORDS": recorded.parent.resolve()})


def test_compare_takes_bench_records_alone(validate, recorded):
    validate.refuses("no row and no case in common", "compare", recorded, recorded)
