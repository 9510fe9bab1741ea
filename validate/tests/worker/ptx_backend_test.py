# SPDX-License-Identifier: Apache-2.0
"""Kernels of this tree, run on simt from the PTX that nvcc makes of their own .cu files.  Without --ptx-build, as where no nvcc is,
it is skipped."""
import os
import re
import shutil
import subprocess
import sys

import pytest

from command_line import SOURCES, Program, cases, changed, of_kind, records, values

OPS = ("add", "embedding")
RUN = "run --backend ptx --no-shrink"
doors = Program(sys.executable, "-B", SOURCES / "reports/ptx_doors.py")


@pytest.fixture(scope="module", autouse=True)
def built(pytestconfig):
    """Compiles the kernels of these ops as PTX."""
    named = pytestconfig.getoption("--ptx-build")
    if not named:
        pytest.skip("no nvcc was found when the build was configured")
    cmake, build = named
    targets = [word for op in OPS for word in ("--target", f"ptx_{op}")]
    command = [cmake, "--build", pytestconfig.invocation_params.dir / build, *targets]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        pytest.fail("\n".join(done.stdout.splitlines()[-20:]), pytrace=False)


@pytest.fixture(scope="module")
def of_simt(validate, built):
    """Records of the C++ door, a file for each op."""
    for op in OPS:
        validate(f"run --backend simt --op {op} --suite smoke --json simt_{op}.jsonl")
    return {op: f"simt_{op}.jsonl" for op in OPS}


@pytest.fixture(scope="module")
def of_ptx(validate, of_simt):
    """Records of the PTX door, which must have the bits of the C++ door."""
    for op in OPS:
        validate(f"{RUN} --op {op} --suite smoke --same-as {of_simt[op]} --bit-equal --json {op}.jsonl")
    return {op: f"{op}.jsonl" for op in OPS}


# --- the kernels pass, and what they compute exactly has the bits of the C++ door
@pytest.mark.parametrize("op", OPS)
def test_kernels_pass_when_every_access_is_watched(validate, op):
    validate(f"{RUN} --op {op} --suite sanitize --watch")


@pytest.mark.parametrize("op", OPS)
def test_what_the_verdicts_rest_on(of_ptx, op):
    fidelity = values("fidelity", cases(of_ptx[op]))
    assert "exact" in fidelity
    assert "contractable" not in " ".join(fidelity)


def test_where_it_ran_and_how_it_is_run_again(of_ptx):
    (head,) = of_kind("run", records(of_ptx["add"]))
    assert head["backend"] == "simt"
    assert "--backend ptx" in values("loaded", cases(of_ptx["add"]))


def test_replay(validate):
    said = validate("replay --backend ptx 'add/vector16 f16 rows=3 cols=65'")
    assert "verdict        passed" in said.out
    assert "read 390" in said.out


# --- both doors side by side
def test_both_doors(of_simt, of_ptx):
    pairs = [path for op in OPS for path in (of_simt[op], of_ptx[op])]
    table = re.sub(" +", " ", doors("", *pairs).out)
    assert "add/vector16 exact bf16 f16 f32" in table
    assert ", 0 cases another verdict" in table
    rows = [row.split() for row in table.splitlines() if "exact" in row]
    assert [row for row in rows if row[-4] != row[-5]] == []  # outputs, and those with equal bits


def test_another_verdict(of_simt, of_ptx):
    other = changed(of_simt["add"], "other.jsonl", '"verdict":"passed"', '"verdict":"failed"')
    assert "passed as PTX, failed as C++" in doors("", other, of_ptx["add"], code=1).out


# --- the PTX of a kernel, and the kernels of a program
@pytest.fixture(scope="module")
def add(binaries):
    """The program that has the PTX of the kernels of add."""
    return Program(binaries / "ptx/add")


def test_the_ptx_of_a_kernel(add):
    assert ".target sm_80" in add("naive").out


def test_the_kernels_of_a_program(add):
    assert "add/vector16.ptx" in add().out


def test_a_kernel_that_a_program_lacks(add):
    assert "'no_such' is no kernel of this program" in add("no_such", code=2).err


# --- what is not there
def test_an_op_that_is_not_compiled(validate, binaries):
    program = binaries / "ptx/attention_backward"
    if program.exists():
        pytest.skip("it is compiled here")
    validate.refuses(f"there is no {program}", f"{RUN} --op attention_backward")


def test_no_ptx_beside_the_command(validate, folder):
    os.mkdir("elsewhere")
    elsewhere = Program(shutil.copy(validate, "elsewhere/validate"))
    elsewhere.refuses(f"backend ptx cannot be used: there is no {folder}/elsewhere/ptx", "run --backend ptx --op add")
    elsewhere("run --backend ptx --op add --skip-exit 7", code=7)


@pytest.mark.parametrize(
    "part, line",
    [
        ("--backend ptx: it runs the kernels of this tree, and no others", f"{RUN} --plugin none.so"),
        ("--backend ptx: only run and replay", "probe --backend ptx"),
    ],
)
def test_wrong_words(validate, part, line):
    validate.refuses(part, line)
