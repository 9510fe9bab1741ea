# SPDX-License-Identifier: Apache-2.0
"""The wheel: built, installed apart, it judges a callable without anything else of the tree."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import assay

TREE = Path(__file__).resolve().parents[2]


def test_versions_are_one():
    assert re.search(r"project\(assay VERSION (\S+)", (TREE / "CMakeLists.txt").read_text())[1] == assay.__version__


def test_the_wheel(wheel, tmp_path):
    assert wheel.name == f"assay-{assay.__version__}-py3-none-linux_{os.uname().machine}.whl"
    assert wheel.stat().st_size < 20e6
    names = zipfile.ZipFile(wheel).namelist()
    assert "assay/bin/validate" in names and "assay/share/assay/datasets/edges/common.json" in names and "assay/py.typed" in names
    site = tmp_path / "site"
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", site, wheel], check=True)
    (tmp_path / "first.py").write_text(
        "import numpy as np, assay\n"
        "def softmax(x):\n"
        "    p = np.exp(x - x.max(axis=1, keepdims=True))\n"
        "    return p / p.sum(axis=1, keepdims=True)\n"
        "print(assay.validate('softmax', softmax, dtypes=['f32']))\n"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")} | {
        "PYTHONPATH": str(site),
        "PATH": "/usr/bin:/bin",
    }
    done = subprocess.run(
        [sys.executable, "first.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert "0 failed" in done.stdout, done.stderr
    done = subprocess.run([site / "bin/validate", "--version"], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.startswith(assay.__version__), done.stderr
    linked = subprocess.run(["ldd", site / "assay/bin/validate"], capture_output=True, text=True, check=True).stdout
    assert str(site / "assay/bin") in linked and "not found" not in linked
