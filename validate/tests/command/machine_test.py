# SPDX-License-Identifier: Apache-2.0
"""A machine that computes, or starts processes, in another way than ours is told, and no kernel is blamed for it."""
import os
import platform
import re
import resource
import shutil
import signal
from pathlib import Path

import pytest

from command_line import HANGS, SOURCES, has_cases, records, run, values, wait_until

RUN = "run --backend simt --op softmax --suite sanitize --no-shrink --no-vendor"
KIB = 1024


@pytest.fixture(scope="module")
def faulty(validate, compiler, folder):
    """The command, with a library before its own that makes the machine a faulty one, as variables say."""
    run(compiler, "-shared", "-fPIC", "-o", "faulty.so", SOURCES / "validate/tests/hostile/faulty_machine.c", "-ldl")
    options = f"verify_asan_link_order=0:{os.environ.get('ASAN_OPTIONS', '')}"
    return validate.under(env={"LD_PRELOAD": os.fspath(folder / "faulty.so"), "ASAN_OPTIONS": options})


# --- arithmetic that a library has changed: subnormals that become zero, three roundings, exceptions that end the process

on_x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="MXCSR is a register of x86-64")


@on_x86_64
@pytest.mark.parametrize("where", [{}, {"ASSAY_FAULTY_WORKERS": "1"}], ids=["everywhere", "in workers"])
@pytest.mark.parametrize("state", ["0x9fc0", "0x9f80", "0x1fc0", "0x3f80", "0x5f80", "0x7f80", "0x1f00"])
def test_arithmetic(faulty, state, where):
    """Every case is skipped, since the machine is at fault."""
    changed = faulty.under(env={"ASSAY_FAULTY_ARITHMETIC": state, **where})
    changed(f"{RUN} --json records.jsonl", code=3)
    found = records("records.jsonl")
    assert set(values("verdict", found)) == {"skipped"}
    reason = re.compile(rf"machine: .*\(MXCSR {state}\)")
    assert [text for text in values("reason", found) if not reason.match(text)] == []
    changed(f"{RUN} --partial")


@on_x86_64
def test_bench_on_other_arithmetic(faulty):
    said = faulty("bench --backend simt --op softmax --shape 'rows=2 cols=8'", env={"ASSAY_FAULTY_ARITHMETIC": "0x9fc0"}, code=3)
    assert "the machine is at fault: half the least normal number comes out as 0 in f32" in said.err


@on_x86_64
def test_our_arithmetic(faulty):
    faulty(RUN, env={"ASSAY_FAULTY_ARITHMETIC": "0x1f80"})


# --- a GPU's driver, which the simulated machine leaves alone


def test_the_driver(validate, cuda_works):
    if not cuda_works:
        pytest.skip("there is no GPU")
    loads = validate.under(env={"LD_DEBUG": "files"})
    assert "libcuda.so" not in loads(RUN).err
    assert "libcuda.so" in loads("run --backend cuda --op softmax --suite sanitize --no-shrink").err


# --- fewer threads than there are processors: the run judges, or says that the machine is at fault


@pytest.mark.parametrize("threads", range(7))
def test_few_threads(faulty, threads):
    said = faulty(RUN, env={"ASSAY_FAULTY_THREADS": str(threads), "OMP_NUM_THREADS": "2"}, code=None)
    assert said.code == 0 or said.code == 3 and "machine" in said.all


def test_no_thread(faulty):
    assert "no thread can be started" in faulty(RUN, env={"ASSAY_FAULTY_THREADS": "0"}, code=3).err


# --- a file of tensors that is cut once it is mapped: before its header, in its elements, and in the last page, where no signal tells


@pytest.fixture(scope="module")
def tensors(validate, folder):
    """Inputs and outputs of a case."""
    validate.works("inputs softmax f32 rows=33 cols=65 seed=7 -o in.safetensors")
    validate.works("golden --inputs in.safetensors -o y.safetensors")
    return {"in": Path("in.safetensors"), "y": Path("y.safetensors")}


@pytest.fixture(params=["0", "4096", "all but one"])
def cut(request, faulty):
    """A function that copies a file to cut.safetensors, and returns the command for which it is cut to so many bytes."""

    def of(path):
        shutil.copy(path, "cut.safetensors")
        length = path.stat().st_size - 1 if request.param == "all but one" else request.param
        return faulty.under(env={"ASSAY_FAULTY_FILE": f"{length} cut.safetensors"})

    return of


WAS_CHANGED = "'cut.safetensors' was changed while it was read"


@pytest.mark.parametrize("name, files", [("in", "cut.safetensors y.safetensors"), ("y", "in.safetensors cut.safetensors")])
def test_judge_of_a_file_that_is_cut(cut, tensors, name, files):
    cut(tensors[name]).refuses(WAS_CHANGED, f"judge {files}")


@pytest.mark.parametrize("line", ["golden -o out.safetensors", "run --backend simt --kernel naive"])
def test_inputs_that_are_cut(cut, tensors, line):
    assert WAS_CHANGED in cut(tensors["in"])(f"{line} --inputs cut.safetensors", code=2).err
    assert not os.path.exists("out.safetensors")


# --- few open files


@pytest.mark.parametrize("files", [24, 40, 64])
def test_enough_open_files(validate, files):
    validate(RUN, limits={resource.RLIMIT_NOFILE: files})


@pytest.mark.parametrize("files", [8, 10, 12, 14, 16])
def test_few_open_files(validate, files):
    said = validate(RUN, limits={resource.RLIMIT_NOFILE: files}, code=None)
    assert said.code == 0 or said.code == 3 and re.search("machine: .*can be open", said.out, re.DOTALL)


# --- little address space: simt needs much, and says so before it begins


@pytest.mark.parametrize("kib", [500_000, 4_000_000, 64_000_000, 200_000_000, 400_000_000])
def test_little_address_space(validate, kib):
    assert "of address space and" in validate(RUN, limits={resource.RLIMIT_AS: kib * KIB}, code=2).err


def test_enough_address_space(validate):
    validate(RUN, limits={resource.RLIMIT_AS: 500_000_000 * KIB})


# --- signals that the caller ignored or blocked: a worker's end is still seen, and a run still ends


@pytest.fixture(scope="module")
def deaf(faulty):
    """The command, started by a caller that ignores or blocks signals."""
    return faulty.under(env={"ASSAY_FAULTY_SIGNALS": "1"})


def test_the_end_of_a_worker_is_seen(deaf, plugins):
    said = deaf(f"run --plugin {plugins}/hostile.so --kernel segfaults --dtype f32 --suite sanitize --no-shrink", code=1)
    assert "the worker process was killed by signal 11" in said.out


def test_a_run_ends_on_a_blocked_signal(deaf):
    with deaf.started("run --backend simt --suite full --json blocked.jsonl") as process:
        wait_until(lambda: has_cases("blocked.jsonl", 6) or process.poll() is not None)
        process.send_signal(signal.SIGTERM)
        assert process.wait(HANGS) == 130
