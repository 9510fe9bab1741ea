# SPDX-License-Identifier: Apache-2.0
"""Tests sets (docs/door.md): their kernels take the place of those that are built in, and what is no set is refused in one sentence."""
import json
import os
import re
import shlex
import shutil
import stat
import sys

import pytest

from command_line import SOURCES, cases, of_kind, records, run, write

OP = "layernorm_residual"
SANITIZE = f"run --backend simt --suite sanitize --op {OP}"


def program(path, text):
    """Writes a program; returns its name as --set takes it."""
    write(path, text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return f"./{path}"


# A worker that answers each question with one text.
WORKER = """#!{python}
import json, socket
judge = socket.socket(fileno=3)
asked = json.loads(judge.recv(65536))
judge.send(json.dumps({{"id": asked["id"], **{answer}}}).encode())
judge.recv(65536)
"""
KERNEL = {"op": "softmax", "kernel": "naive", "dtypes": ["f32"]}
LISTED = {"status": 0, "message": "", "backend": "simt", "checks": [], "total": 1, "kernels": [KERNEL]}


def worker(path, **answer):
    return program(path, WORKER.format(python=sys.executable, answer=repr({**LISTED, **answer})))


# --- what is no set
@pytest.mark.parametrize(
    "name, part",
    [
        ("tril", "--set: unknown set 'tril'. Did you mean 'trial'?"),
        ("./nowhere", "--set: there is no file './nowhere'"),
        ("/etc/passwd", "--set: '/etc/passwd' is no program"),
    ],
)
def test_no_such_set(validate, name, part):
    validate.refuses(part, SANITIZE, "--set", name)


def test_a_program_that_is_no_worker(validate):
    path = program("talks", "#!/bin/sh\necho >&2\necho 'I want coffee.' >&2\necho 'And sugar.' >&2\nexit 5\n")
    said = validate.refuses("exited with code 5: I want coffee.", SANITIZE, "--set", path)
    assert said.err.startswith("validate: --set ./talks: asked for its kernels, ")
    assert "sugar" not in said.err


def test_a_worker_that_is_no_set(validate):
    validate.refuses("it is a worker and no set", SANITIZE, "--set", worker("plain"))


def test_a_set_of_another_version(validate):
    path = worker("old", built="Assay 0.0.1, g++ 5.4.0")
    said = validate.refuses("it was built with Assay 0.0.1, g++ 5.4.0, and this program with Assay ", SANITIZE, "--set", path)
    assert re.search(r"and this program with Assay [0-9.]+, (g\+\+|clang) [0-9.]+ ", said.err + " ")


def test_a_set_of_another_protocol(validate):
    refusal = "the question has protocol 2, this worker speaks 3"
    validate.refuses(f"--set ./new: {refusal}", SANITIZE, "--set", worker("new", status=3, message=refusal))


def test_a_set_that_misses_a_symbol(validate, compiler):
    """As one does that was linked with the library of another compiler."""
    write("part.c", "void part_of_it(void) {}")
    write("whole.c", "void part_of_it(void);\nint main(void) { part_of_it(); }")
    run(compiler, "-shared", "-fPIC", "-o", "libpart.so", "part.c")
    run(compiler, "-o", "whole", "whole.c", "-L.", "-lpart", "-Wl,-rpath," + os.getcwd())
    write("part.c", "void another_part(void) {}")
    run(compiler, "-shared", "-fPIC", "-o", "libpart.so", "part.c")
    validate.refuses("undefined symbol: part_of_it", SANITIZE, "--set", "./whole")


def test_flags_that_exclude_a_set(validate):
    for flags in ("--worker true", "--backend ptx", "--backend host"):
        validate.refuses("--", f"{SANITIZE} --set trial {flags}")
    validate.refuses("the kernels of a set are not timed", "bench --backend simt --memory --set trial --op softmax")


# --- what a set has
def test_kernels_of_a_set(validate):
    def listed(*words):
        return json.loads(validate("list kernels --json", *words).out)["kernels"]

    built_in, trial = listed(), listed("--set", "trial")
    assert not any(k["broken"] for k in built_in)
    assert [k for k in trial if k in built_in] == built_in
    broken = [k for k in trial if k["broken"]]
    assert len(broken) >= 495 or os.environ.get("ASSAY_TRIAL")
    assert all("simt" in k["backends"] and k["idea"].startswith("FAULT") for k in broken)
    assert "  broken/" in validate("describe softmax --set trial").out


def test_steps_of_a_composite_op(validate):
    """Their numerics come with the replies, so the verdicts are those of the kernels that are built in."""
    line = "run --backend simt --suite first --op transformer_layer --kernel fused,unfused --json"
    validate(f"{line} built_in.jsonl")
    validate(f"{line} of_set.jsonl --set trial")

    def outcomes(path):
        """By repro line, without where the kernel comes from and how long it took."""
        return {
            case["repro"]: {key: value for key, value in case.items() if key not in ("loaded", "code", "seconds")}
            for case in cases(path)
        }

    assert outcomes("of_set.jsonl") == outcomes("built_in.jsonl")


def test_a_repro_line_reproduces(trial, binaries):
    said = trial(f"replay --backend simt --no-shrink '{OP}/unbiased_variance f32 rows=3 cols=4'", code=1)
    line = next(line for line in said.out.splitlines() if line.startswith("validate replay --set trial "))
    words = shlex.split(line)
    assert (
        run(binaries / words[0], *words[1:], "--backend", "simt", "--no-shrink", code=1).out.splitlines()[:4]
        == said.out.splitlines()[:4]
    )


def test_records_name_the_set(trial):
    trial(f"{SANITIZE} --kernel naive --json named.jsonl")
    assert {case["loaded"] for case in cases("named.jsonl")} == {"--set trial"}


def test_a_set_from_elsewhere_is_confined_before_it_starts(validate, binaries):
    shutil.copy(binaries / "sets/hostile", "elsewhere")
    line = f"{SANITIZE} --kernel naive --dtype f32 --json"
    validate(f"{line} beside.jsonl --set hostile")
    validate(f"{line} elsewhere.jsonl --set ./elsewhere")
    validate(f"{line} program.jsonl".replace("--backend simt ", ""), "--worker", "./elsewhere simt")
    (beside,), (elsewhere,), (any_program,) = (
        of_kind("run", records(f"{name}.jsonl")) for name in ("beside", "elsewhere", "program")
    )
    assert elsewhere["sandbox"] == any_program["sandbox"]
    assert {case["verdict"] for case in cases("elsewhere.jsonl")} == {"passed"}
    assert beside["device"] == elsewhere["device"]
