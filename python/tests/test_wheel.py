# SPDX-License-Identifier: Apache-2.0
"""The wheel: built, installed apart, it judges kernels without anything else of the tree and without a compiler.

ASSAY_WHEEL names one to be tested; otherwise it is built of this tree, with the program of this build."""

import ast
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import assay

TREE = Path(__file__).resolve().parents[2]
OLDEST = (3, 9)  # Python, of RHEL 9
TOO_OLD = "this build needs an x86-64-v3 processor (AVX2, FMA, BMI2)"
FIRST = """
import numpy as np, assay
def softmax(x):
    p = np.exp(x - x.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)
print(assay.validate("softmax", softmax, suite="sanitize", dtypes=["f32"]))
"""
IN_PROCESS = """
import struct
from assay import machine
from assay.arrays import zeros
entry = machine.Entry(open("softmax.ptx", "rb").read(), "softmax_kernel", "softmax.ptx")
x, y = zeros((2, 65)), zeros((2, 65))
def pack(translate, _):
    packed = bytearray(entry.bytes)
    values = (translate(x.data_ptr()), translate(y.data_ptr()), 65, x.stride(0), 0, 0)
    for (offset, _), form, value in zip(entry.parameters, "QQiqQQ", values):
        struct.pack_into("<" + form, packed, offset, value)
    return bytes(packed)
regions = [machine.Region(a.base, a.base_bytes, name) for a, name in ((x, "x"), (y, "y"))]
machine.Memory().launch(entry, (2, 1, 1), (128, 1, 1), 16, regions, pack, machine.Options())
print("each is", y.numpy()[1, 64])
"""


def pip_install(wheel, folder):
    """The command that puts the wheel's files into a folder."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-deps"]
    return [*pip, "--target", folder, wheel]


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """A folder with the wheel's files alone."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(pip_install(wheel, folder), check=True)
    return folder


def run(site, folder, command, **variables):
    """Runs a command with the wheel's files and with no program on PATH, as where there is no compiler."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
    (folder / "nothing").mkdir(exist_ok=True)
    environment = {**kept, "PYTHONPATH": str(site), "PATH": str(folder / "nothing"), **variables}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def needed_glibc(file):
    said = subprocess.run(["readelf", "--dyn-syms", "-W", file], capture_output=True, text=True, check=True).stdout
    return max((int(a), int(b)) for a, b in re.findall(r"@GLIBC_(\d+)\.(\d+)", said))


def test_versions_are_one():
    assert re.search(r"project\(assay VERSION (\S+)", (TREE / "CMakeLists.txt").read_text())[1] == assay.__version__


def test_the_wheel(wheel, site):
    assert wheel.stat().st_size < 20e6
    names = zipfile.ZipFile(wheel).namelist()
    assert "assay/bin/validate" in names and "assay/share/assay/datasets/edges/common.json" in names and "assay/py.typed" in names
    newest = max(needed_glibc(file) for file in (site / "assay/bin").iterdir())
    assert wheel.name == f"assay-{assay.__version__}-py3-none-manylinux_{newest[0]}_{newest[1]}_{os.uname().machine}.whl"
    assert needed_glibc(site / "assay/bin/libassay_ptx.so") <= (2, 34)
    linked = subprocess.run(["ldd", site / "assay/bin/validate"], capture_output=True, text=True, check=True).stdout
    assert "not found" not in linked
    of_every_system = r"linux-vdso|ld-linux|(libc|libm)\.so"
    apart = [line for line in linked.splitlines() if not re.search(of_every_system, line)]
    assert all(str(site / "assay/bin") in line for line in apart), linked


def test_the_licence_texts_of_what_is_within_it(wheel):
    if "ASSAY_WHEEL" not in os.environ:
        pytest.skip("a wheel that is for this machine alone has no licence texts of others")
    texts = {name.rpartition("/")[2]: name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("assay/notices/")}
    within = {"libfmt-dev", "zlib1g-dev", "libcli11-dev", "nlohmann-json3-dev", "libeigen3-dev", "libjs-chart.js", "GPL-3"}
    assert {name + ".txt" for name in within} <= texts.keys()
    runtime = [name for name in texts if re.fullmatch(r"gcc-\d+-base.txt", name)]
    assert len(runtime) == 1 and b"GCC RUNTIME LIBRARY EXCEPTION" in zipfile.ZipFile(wheel).read(texts[runtime[0]])


def test_a_verdict_on_python(site, tmp_path):
    (tmp_path / "first.py").write_text(FIRST)
    done = run(site, tmp_path, [sys.executable, "first.py"])
    assert re.search(r"^[1-9]\d* passed · 0 failed", done.stdout, re.M), done.stdout + done.stderr
    done = run(site, tmp_path, [site / "bin/validate", "--version"])
    assert done.stdout.startswith(assay.__version__), done.stderr


def test_a_verdict_on_ptx(site, tmp_path):
    for name in ("softmax.ptx", "softmax.json"):
        shutil.copy(TREE / "examples/ptx" / name, tmp_path)
    command = [site / "bin/validate", "run", "--ptx", "softmax.ptx", "--launch", "softmax.json", "--suite", "sanitize", "--watch"]
    done = run(site, tmp_path, command)
    assert done.returncode == 0 and re.search(r"^[1-9]\d* passed · 0 failed", done.stdout, re.M), done.stdout + done.stderr


def test_what_triton_compiled_runs_in_the_process(site, tmp_path):
    shutil.copy(TREE / "datasets/ptx/triton_softmax.ptx", tmp_path / "softmax.ptx")
    (tmp_path / "launch.py").write_text(IN_PROCESS)
    done = run(site, tmp_path, [sys.executable, "launch.py"])
    assert re.search(r"^each is 0\.01538", done.stdout, re.M), done.stdout + done.stderr  # 1 / 65


def test_pip_refuses_it_on_an_older_glibc(wheel, tmp_path):
    (tmp_path / "_manylinux.py").write_text(
        "def manylinux_compatible(major, minor, arch):\n    return (major, minor) < (2, 34)\n"
    )
    done = run(tmp_path, tmp_path, pip_install(wheel, tmp_path / "site"))
    assert done.returncode == 1, done.stdout
    assert done.stderr.strip() == f"ERROR: {wheel.name} is not a supported wheel on this platform."


def test_the_program_on_an_older_processor(site, tmp_path):
    qemu = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static")
    if not qemu or os.uname().machine != "x86_64":
        pytest.skip("qemu-x86_64 pretends to be an older processor  (apt-get install -y qemu-user)")
    done = run(site, tmp_path, [qemu, "-cpu", "Nehalem", site / "assay/bin/validate", "list", "ops"])
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"validate: {TOO_OLD}\n")


def test_the_package_on_an_older_processor(site, tmp_path):
    (tmp_path / "first.py").write_text(FIRST)
    refusing = tmp_path / "refusing"  # as the program does there
    refusing.write_text(f"#!/bin/sh\necho 'validate: {TOO_OLD}' >&2\nexit 2\n")
    refusing.chmod(0o755)
    done = run(site, tmp_path, [sys.executable, "first.py"], ASSAY_VALIDATE=str(refusing))
    assert done.stderr.splitlines()[-1] == f"assay.errors.LibraryError: {TOO_OLD}"
    done = run(site, tmp_path, [site / "bin/validate", "list", "ops"], ASSAY_VALIDATE=str(refusing))
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"validate: {TOO_OLD}\n")


def test_auditwheel_gives_the_same_tag(wheel):
    pytest.importorskip("auditwheel", reason="auditwheel is not installed  (pip install auditwheel)")
    said = subprocess.run([sys.executable, "-m", "auditwheel", "show", wheel], capture_output=True, text=True, check=True).stdout
    tag = re.search(r'following platform tag:\s+"([^"]*)"', said)
    assert tag and tag[1] in wheel.name, said


def test_the_oldest_python_can_read_it():
    asked = re.search(r'requires-python = ">=(\d+)\.(\d+)"', (TREE / "python/pyproject.toml").read_text())
    assert (int(asked[1]), int(asked[2])) == OLDEST
    for file in (TREE / "python/assay").glob("*.py"):
        ast.parse(file.read_text(), file, feature_version=OLDEST)
