# SPDX-License-Identifier: Apache-2.0
"""The action of python/action in a pretended environment of a runner."""

import os
import re
import subprocess
from pathlib import Path

ACTION = Path(__file__).resolve().parents[1] / "action"
RIGHT = """import pytest, numpy as np
@pytest.mark.assay(op="softmax", suite="sanitize", dtypes=["f32"])
def right(x):
    p = np.exp(x - x.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)
"""
WRONG = RIGHT.replace("def right", "def wrong").replace("    p = ", "    x = x * np.float32(1.01)\n    p = ")


def step(name, folder, **environment):
    runner = {
        "RUNNER_TEMP": str(folder / "temp"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(ACTION),
    }
    (folder / "temp").mkdir(exist_ok=True)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ASSAY_", "PYTHON"))}
    line = next(
        line
        for line in (ACTION / "action.yml").read_text().splitlines()
        if line.strip().startswith("run: ") and line.endswith(f" {name}")
    )
    return subprocess.run(
        ["bash", "-e", "-c", line.strip().removeprefix("run: ")],
        cwd=folder / "repository",
        capture_output=True,
        text=True,
        check=False,
        env={**kept, **runner, **environment},
    )


def test_the_action(wheel, tmp_path):
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository/test_right.py").write_text(RIGHT)
    (tmp_path / "repository/test_wrong.py").write_text(WRONG)
    done = step("install", tmp_path, ASSAY_WHEEL=str(wheel))
    assert done.returncode == 0, done.stderr
    done = step("judge", tmp_path, ASSAY_PATHS="test_right.py")
    assert done.returncode == 0 and "1 passed" in done.stdout and "::error" not in done.stdout, done.stdout
    done = step("judge", tmp_path)
    assert done.returncode == 1 and "1 failed, 1 passed" in done.stdout, done.stdout
    assert "::error file=test_wrong.py,line=2,title=wrong::assay.Mismatch" in done.stdout
    outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    assert "err/bound" in Path(outputs["junit"]).read_text()
    written = sorted(p.name for p in Path(outputs["records"]).glob("*.jsonl"))
    assert [name.removeprefix("repository_") for name in written] == ["test_right.py_right.jsonl", "test_wrong.py_wrong.jsonl"]
    assert "softmax" in (tmp_path / "summary").read_text()


def test_bad_use(tmp_path):
    for words, message in (([], "'' is no step; install and judge are"), (["jugde"], "'jugde' is no step")):
        done = subprocess.run(
            ["bash", ACTION / "judge.sh", *words],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "RUNNER_TEMP": str(tmp_path)},
        )
        assert done.returncode == 2 and message in done.stderr
    done = subprocess.run(
        ["bash", ACTION / "judge.sh", "judge"], capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"]}
    )
    assert done.returncode != 0 and "RUNNER_TEMP" in done.stderr


def test_only_run_steps():
    text = (ACTION / "action.yml").read_text()
    assert not re.search(r"^\s*-?\s*uses:", text, re.M) and text.count("run: bash") == 2
