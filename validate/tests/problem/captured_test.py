# SPDX-License-Identifier: Apache-2.0
"""The goldens against the tensors of datasets/captured, skipped where their package is not to be had.  ASSAY_CAPTURED names
another folder of the same files."""
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from command_line import SOURCES, read, run

ORIGIN = json.loads(read(SOURCES / "datasets/captured/manifest.json"))["origin"]


def version_here(package):
    """The version of a package that is installed; empty where that is not known."""
    if not shutil.which("dpkg-query"):
        return ""
    query = ["dpkg-query", "-W", "-f=${Version}", package]
    return subprocess.run(query, capture_output=True, text=True, check=False).stdout


def test_goldens_against_captured_tensors(binaries):
    package, expected = ORIGIN["package"], ORIGIN["version"]
    named = os.environ.get("ASSAY_CAPTURED")
    root = named or ORIGIN["root"]
    if not Path(root).is_dir():
        pytest.skip(f"no {root}  (apt-get install -y {package})")
    here = version_here(package)
    if not named and here and here != expected:
        pytest.skip(f"{package} {here} is here, the manifest has the sums of {expected}")
    assert "All tests passed" in run(binaries / "assay_tests", "[captured]").out
