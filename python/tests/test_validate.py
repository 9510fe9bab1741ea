# SPDX-License-Identifier: Apache-2.0
"""validate: callables are judged over suites, right ones pass and wrong ones are told."""

import json
import os
import subprocess
import sys
from pathlib import Path

import kernels
import numpy as np
import pytest

import assay

FEW = {"suite": "sanitize", "dtypes": ["f32"]}


def reason(caught):
    return caught.value.result.failures[0].reason


def test_a_right_callable_passes(tmp_path):
    run = assay.validate("softmax", kernels.softmax, records=tmp_path / "run.jsonl")
    assert run.passed and 0 < run.margin <= 1 and not run.failures
    assert {c["dtype"] for c in run.cases} == {"f16", "f32", *(["bf16"] if "ml_dtypes" in sys.modules else [])}
    assert set(run.verdicts) <= {"passed", "unsupported"} and run.verdicts["passed"] > 100
    assert run.cases[0]["kernel"] == "softmax" and run.cases[0]["not_checked"] == [
        "bounds",
        "reads",
        "races",
        "uninitialised",
        "traffic",
    ]
    assert "without isolation" not in run.records[0]["device"]
    lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert lines == run.records and lines[-1]["record"] == "end"


def test_a_callable_that_declares_finite_inputs_gets_no_others():
    run = assay.validate("softmax", kernels.needs_finite, dtypes=["f16", "f32"], finite_inputs=True)
    assert run.passed and run.verdicts["unsupported"] > 0


def test_a_failure_is_shrunk_and_can_be_repeated():
    with pytest.raises(assay.Mismatch) as caught:
        assay.validate("softmax", kernels.skips_rows, dtypes=["f32"])
    failure = next(f for f in caught.value.result.failures if f.shrunk)
    assert "rows=129 cols=1" in failure.smallest and "rows" in failure.pattern
    text = str(caught.value)
    assert "pattern" in text and "smallest   rows=129 cols=1" in text and f"again      {failure.again}" in text
    words = failure.again.replace("validate", os.environ["ASSAY_VALIDATE"], 1)
    again = subprocess.run(words, shell=True, capture_output=True, text=True, check=False)
    assert again.returncode == 1 and "rows=129 cols=1" in again.stdout and "verdict        failed" in again.stdout


@pytest.mark.parametrize(
    "fn, suite, message",
    [
        (kernels.no_maximum, "smoke", "err/bound = inf"),
        (kernels.leaves_ends, "sanitize", ""),
        (kernels.keeps_answers, "smoke", ""),
        (kernels.writes_input, "sanitize", "writes_input() raised ValueError: cannot set WRITEABLE flag to True"),
        (kernels.raises, "sanitize", "raises() raised KeyError: 'key'  (kernels.py:"),
        (kernels.crashes, "sanitize", "the worker process"),
    ],
)
def test_wrong_callables_fail(fn, suite, message):
    with pytest.raises(assay.Mismatch) as caught:
        assay.validate("softmax", fn, suite=suite, dtypes=["f32"], flags=["--no-shrink"])
    assert message in reason(caught)


def test_a_hang_costs_one_case(tmp_path):
    (tmp_path / "hangs.py").write_text("import time\ndef hangs(x):\n  while x.shape[0] > 1: time.sleep(1)\n  return x * 0 + 1\n")
    sys.path.insert(0, str(tmp_path))
    import hangs  # pylint: disable=import-outside-toplevel,import-error

    with pytest.raises(assay.Mismatch) as caught:
        assay.validate("softmax", hangs.hangs, **FEW, flags=["--no-shrink", "--timeout", "1"])
    assert caught.value.result.verdicts["timeout"] > 0


def test_memory_that_ran_out_is_no_pass():
    with pytest.raises(assay.Incomplete, match="MemoryError: no") as caught:
        assay.validate("softmax", kernels.forgets, dtypes=["f32"], suite="first")
    assert caught.value.result.verdicts["passed"] and not caught.value.result.passed


def test_few_cases_are_told():
    with pytest.warns(UserWarning, match=r"takes \d+ of \d+ cases \(\d+ %\); not: \d+ 'a few columns'"):
        run = assay.validate("softmax", kernels.takes_few_columns, dtypes=["f32"], suite="first")
    assert run.passed and run.declined


def test_unsupported():
    run = assay.validate("softmax", kernels.declines_wide, dtypes=["f32"])
    declined = [c for c in run.cases if c["verdict"] == "unsupported"]
    assert declined and all(c["reason"] == "takes at most 100 columns" and c["axes"]["cols"] > 100 for c in declined)
    with pytest.raises(assay.Incomplete, match="takes nothing") as caught:
        assay.validate("softmax", kernels.declines, **FEW)
    assert caught.value.result.verdicts["unsupported"] == len(caught.value.result.cases)


def test_an_attribute_that_is_not_named_is_unsupported():
    run = assay.validate("gelu", kernels.gelu, dtypes=["f32"])
    assert {c["reason"] for c in run.cases if c["verdict"] == "unsupported"} == {"gelu() takes no 'form'"}
    assert all("form" not in c["attributes"] for c in run.cases if c["verdict"] == "passed") and run.verdicts["passed"] > 10


@pytest.mark.parametrize("fn, dtypes", [(kernels.cross_entropy, ["f32"]), (kernels.kv_append, None), (kernels.rope, ["f32"])])
def test_several_updated_and_in_place_outputs(fn, dtypes):
    run = assay.validate(fn.__name__, fn, dtypes=dtypes)
    assert run.passed and set(run.verdicts) <= {"passed", "unsupported"}
    if fn is kernels.rope:
        assert any(c["attributes"].get("in_place") for c in run.cases)


@pytest.mark.parametrize(
    "fn, message",
    [
        (kernels.returns_nothing, "returns_nothing() returned nothing, and 'y' was expected"),
        (kernels.returns_two, "returns_two() returned 2 outputs, and 'y' was expected"),
        (kernels.returns_f64, "returns_f64() returned 'y' as f64, and f32 was expected"),
        (kernels.returns_a_list, "returns_a_list() returned 9 outputs, and 'y' was expected"),
        (kernels.needs_more, "needs_more() needs 'temperature', and softmax has x"),
        (kernels.by_position, "by_position() takes 'x' by its position alone, and arguments are given by name"),
        (kernels.kv_append, "kv_append() needs 'k', and softmax has x"),
        (len, "len() takes 'obj' by its position alone"),
        (7, "7 is of type int, and a callable was expected"),
        (lambda x: x, "isolation='none' is needed"),
    ],
)
def test_a_callable_that_is_no_kernel(fn, message):
    with pytest.raises(assay.InputError) as caught:
        assay.validate("softmax", fn, **FEW)
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"suite": "smok"}, "unknown suite 'smok'. Did you mean 'smoke'?"),
        ({"dtypes": ["f64"]}, "the dtype 'f64' is none of f16, bf16, f32"),
        ({"numerics": "chain=x"}, "chain"),
        ({"isolation": "thread"}, "isolation is 'thread', and 'process' or 'none' was expected"),
        ({"flags": ["--nothing"]}, "unknown flag '--nothing'"),
        ({"device": "tpu"}, "'tpu'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(assay.InputError) as caught:
        assay.validate("softmax", kernels.softmax, **{**FEW, **options})
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_closures_without_isolation():
    factor = np.float32(1)

    def closure(x):
        return kernels.softmax(x) * factor

    with pytest.raises(assay.InputError, match="isolation='none' is needed"):
        assay.validate("softmax", closure, **FEW)
    run = assay.validate("softmax", closure, **FEW, isolation="none")
    assert run.passed and run.records[0]["device"].endswith("in the caller's process, without isolation")
    seen = []
    factor = np.float32(1.001)
    with pytest.raises(assay.Mismatch):
        assay.validate(
            "softmax", lambda x: (seen.append(os.getpid()), closure(x))[1], **FEW, isolation="none", flags=["--no-shrink"]
        )
    assert set(seen) == {os.getpid()}


def test_declarations_reach_the_judge():
    run = assay.validate(
        "softmax",
        kernels.softmax,
        **FEW,
        numerics="accumulate=f32 chain=1",
        deterministic=False,
        finite_inputs=True,
        position_matters=True,
    )
    assert {c["numerics"] for c in run.cases} == {"accumulate=f32 chain=1"} and "held_to" not in run.cases[0]
    assert "held to accumulate=f32 chain=1 (as declared)" in " ".join(run.text.split())
    words = run.command[-1]
    assert "--nondeterministic" in words and "--finite-inputs" in words and "--position-matters" in words


def run_script(folder, text, *words):
    (folder / "script.py").write_text(text)
    return subprocess.run([sys.executable, "script.py", *words], cwd=folder, capture_output=True, text=True, check=False)


def test_a_script_is_read_up_to_its_first_call(tmp_path):
    done = run_script(
        tmp_path,
        "import numpy as np, assay\n"
        "def softmax(x):\n"
        "    p = np.exp(x - x.max(axis=1, keepdims=True))\n"
        "    return p / p.sum(axis=1, keepdims=True)\n"
        "print(assay.validate('softmax', softmax, dtypes=['f32'], suite='sanitize'))\n"
        "def late(x): return softmax(x)\n"
        "assay.validate('softmax', late, dtypes=['f32'], suite='sanitize')\n",
    )
    assert "4 passed · 0 failed" in done.stdout
    assert "'script.py' has no 'late' above its first call of this package" in done.stderr


def test_a_function_of_a_package(tmp_path):
    (tmp_path / "lib/inner").mkdir(parents=True)
    (tmp_path / "lib/inner/__init__.py").write_text("")
    (tmp_path / "lib/inner/k.py").write_text(
        f"import sys\nsys.path.append({str(Path(__file__).parent)!r})\nfrom kernels import softmax as s\n"
        "class Group:\n  @staticmethod\n  def softmax(x): return s(x)\n"
    )
    done = run_script(
        tmp_path,
        "import sys, assay\nsys.path.insert(0, 'lib')\nfrom inner.k import Group\n"
        "print(assay.validate('softmax', Group.softmax, dtypes=['f32'], suite='sanitize').command[-1])\n",
    )
    assert "inner.k:Group.softmax --op softmax --path lib" in done.stdout, done.stderr


def test_the_worker_keeps_to_the_protocol():
    worker = f"{sys.executable} -m assay.worker {Path(__file__).parent / 'kernels.py'}:softmax --op softmax"
    done = subprocess.run(
        [os.environ["ASSAY_VALIDATE"], "doctor", "--worker", worker], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "7 checks, 0 failed" in done.stdout, done.stdout
    for words, message in (
        (worker.replace("kernels.py", "none.py"), "there is no file"),
        (worker.replace(":softmax", ":none"), "has no 'none'"),
        (worker.replace("--op softmax", ""), "--op is missing"),
        (f"{worker} --device nowhere", "nowhere"),
    ):
        done = subprocess.run(
            [os.environ["ASSAY_VALIDATE"], "run", "--worker", words], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1, done.stderr
