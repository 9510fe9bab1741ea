# SPDX-License-Identifier: Apache-2.0
"""The plugin of pytest: a mark makes a judged function, and a failure tells the shrunk case."""

import json
import os
import subprocess
import sys

import pytest

RIGHT = """import pytest, numpy as np
@pytest.mark.assay(op="softmax", suite="sanitize", dtypes=["f32"])
def softmax(x):
    p = np.exp(x - x.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)
"""
WRONG = RIGHT.replace("    p = ", "    x = x * np.float32(1.01)\n    p = ")


def run_pytest(folder, text, *words, **environment):
    (folder / "test_kernels.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "assay.pytest_plugin", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment},
    )
    return done.returncode, done.stdout


def test_a_right_function(tmp_path):
    code, out = run_pytest(tmp_path, RIGHT, "-v", "--strict-markers", "--assay-records", "records")
    assert code == 0 and "test_kernels.py::softmax PASSED" in out and "1 passed" in out
    lines = (tmp_path / "records/test_kernels.py_softmax.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["record"] == "run" and json.loads(lines[-1])["record"] == "end"


def test_a_wrong_function(tmp_path):
    code, out = run_pytest(tmp_path, WRONG, "--junitxml", "junit.xml", GITHUB_ACTIONS="")
    assert code == 1 and "1 failed" in out and "::error" not in out
    for part in (
        "assay.Mismatch: FAILED  softmax/softmax  f32  err/bound",
        "  pattern    ",
        "  smallest   ",
        "  again      validate replay --worker '",
    ):
        assert part in out
    assert "err/bound" in (tmp_path / "junit.xml").read_text()


def test_annotations_on_github(tmp_path):
    _, out = run_pytest(tmp_path, WRONG, GITHUB_ACTIONS="true")
    line = next(line for line in out.splitlines() if line.startswith("::error "))
    assert line.startswith("::error file=test_kernels.py,line=2,title=softmax::assay.Mismatch: FAILED  softmax/softmax")
    assert "%0A  again      validate replay" in line


def test_marks_are_selected_and_several(tmp_path):
    text = (
        RIGHT.replace("@", "@pytest.mark.assay('softmax', suite='sanitize', dtypes=['f16'])\n@", 1) + "def test_other(): pass\n"
    )
    code, out = run_pytest(tmp_path, text, "-v", "-m", "assay")
    assert "softmax[softmax-sanitize-f32] PASSED" in out and "softmax[softmax-sanitize-f16] FAILED" in out
    assert code == 1 and "1 deselected" in out


@pytest.mark.parametrize(
    "mark, message",
    [
        ("suite='smoke'", "assay.InputError: the mark assay names no op"),
        ("op='softmx'", "assay.InputError: unknown op 'softmx'"),
        ("op='softmax', suit='smoke'", "unexpected keyword argument 'suit'"),
    ],
)
def test_a_wrong_mark(tmp_path, mark, message):
    code, out = run_pytest(tmp_path, f"import pytest\n@pytest.mark.assay({mark})\ndef softmax(x): return x\n")
    assert code == 1 and message in out
