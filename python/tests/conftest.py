# SPDX-License-Identifier: Apache-2.0
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

TREE = Path(__file__).resolve().parents[2]


@pytest.fixture
def x():
    return np.random.default_rng(0).standard_normal((33, 65)).astype(np.float32)


@pytest.fixture
def wheel(tmp_path):
    """A wheel of this tree, built in a copy of it."""
    source = tmp_path / "tree/python"
    shutil.copytree(TREE / "python", source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__", "tests"))
    for name in ("datasets", "LICENSE"):
        (tmp_path / "tree" / name).symlink_to(TREE / name)
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--disable-pip-version-check",
            "wheel",
            "-q",
            "--no-deps",
            "--no-build-isolation",
            "-w",
            tmp_path,
            source,
        ],
        check=True,
    )
    return next(tmp_path.glob("*.whl"))
