# SPDX-License-Identifier: Apache-2.0
"""The notebook examples/notebook/kernel_to_model.py runs, and finds what its text says."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    done = subprocess.run(
        [sys.executable, TREE / "examples/notebook/kernel_to_model.py", tmp_path_factory.mktemp("plots")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_bound_sees_what_allclose_passes(said):
    rows = [line for line in said.splitlines() if "allclose" in line]
    assert len(rows) == 8 and all("allclose at 1e-2 True" in row for row in rows)
    assert all((float(row.split()[-1]) > 1) == ("sums in f16" in row) for row in rows)


def test_the_steps_see_what_perplexity_passes(said):
    sound, broken = (
        next(line for line in said.splitlines() if line.startswith(f"{what}: perplexity"))
        for what in ("sound", "one broken kernel")
    )
    assert "0 decided tokens differ, 0 steps wrong" in sound and "0 decided tokens differ, 15 steps wrong" in broken


def test_the_speeds_are_those_of_the_records(said):
    records = (TREE / "reports/baselines/nvidia-h200/model_times.jsonl").read_text(encoding="utf-8").splitlines()
    ours = [r for r in map(json.loads, records) if "gpt2-124m" in r["config"] and (r["batch"], r["prompt"]) == (1, 128)]
    row = next(line for line in said.splitlines() if line.startswith("gpt2-124m"))
    assert f"assay {ours[-1]['tokens_s']:,.0f} tokens/s" in row and "eager" in row and "compile" in row
