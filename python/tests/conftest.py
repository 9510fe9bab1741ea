# SPDX-License-Identifier: Apache-2.0
import os
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


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel that ASSAY_WHEEL names, or one of this tree, built in a copy of it."""
    if "ASSAY_WHEEL" in os.environ:
        return Path(os.environ["ASSAY_WHEEL"]).resolve()
    work = tmp_path_factory.mktemp("wheel")
    source = work / "tree/python"
    shutil.copytree(TREE / "python", source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__", "tests"))
    for name in ("datasets", "LICENSE"):
        (work / "tree" / name).symlink_to(TREE / name)
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
            work,
            source,
        ],
        check=True,
    )
    return next(work.glob("*.whl"))
