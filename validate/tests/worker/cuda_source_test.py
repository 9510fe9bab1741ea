# SPDX-License-Identifier: Apache-2.0
"""A CUDA source is compiled, by nvcc or by NVRTC, and judged as its PTX is; what is wrong is told in a sentence.  The program nvcc
is one of ours that copies PTX; with a real nvcc, or with the NVRTC that ASSAY_NVRTC names, those are used too."""
import os
import shutil
import sys
from pathlib import Path

import pytest

from command_line import SOURCES, cases, changed, read, values, write

EXAMPLES = SOURCES / "examples/ptx"
LAUNCH = EXAMPLES / "softmax.json"
NVCC = shutil.which("nvcc")
NVRTC = os.environ.get("ASSAY_NVRTC")

# In the place of nvcc: of NAME.cu it makes what NAME.ptx has, and refuses a source with the word `broken`.
PRETENDED = f"""#!{sys.executable}
import pathlib, shutil, sys
pathlib.Path("called").write_text(" ".join(sys.argv[1:]))
source = next(word for word in sys.argv if word.endswith(".cu"))
if "broken" in pathlib.Path(source).read_text():
    print(f'{{source}}(3): error: identifier "broken" is undefined', "1 error", sep="\\n")
    sys.exit(1)
shutil.copy(source[:-2] + "ptx", sys.argv[-1])
"""


@pytest.fixture(scope="module", autouse=True)
def nvcc(folder):
    """Has our nvcc in the path, and a folder of its own for temporary files."""
    os.mkdir("bin")
    os.mkdir("tmp")
    os.chmod(write("bin/nvcc", PRETENDED), 0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ASSAY_NVRTC", raising=False)
        patch.setenv("TMPDIR", str(folder / "tmp"))
        patch.setenv("PATH", f"{folder}/bin:/usr/bin:/bin")
        yield
    # What compiles leaves nothing.
    assert not os.listdir("tmp")


def source(name, text="", module=EXAMPLES / "softmax.ptx"):
    """A source of this name, that ends with this text, of which our nvcc makes this module."""
    write(f"{name}.cu", read(EXAMPLES / "softmax.cu") + text)
    if Path(f"{name}.ptx") != module:
        shutil.copy(module, f"{name}.ptx")
    return f"{name}.cu"


@pytest.fixture(scope="module")
def mine(nvcc):
    return source("mine")


def test_a_source_is_judged(validate, mine):
    validate(f"run --suite sanitize --cu {mine} --watch --json records.jsonl --launch", LAUNCH)
    assert "-O3 -std=c++17 -arch=sm_80 -lineinfo -ptx mine.cu -o " in read("called")
    judged = cases("records.jsonl")
    assert {case["verdict"] for case in judged if case["dtype"] == "f32"} == {"passed"}
    assert f"--cu mine.cu --launch {LAUNCH}" in values("loaded", judged)
    assert not os.listdir("tmp")


def test_doctor(validate, mine):
    validate(f"doctor --cu {mine} --launch", LAUNCH)


def test_a_fault_has_its_line_of_the_source(validate):
    module = changed(EXAMPLES / "softmax.ptx", "wrong.ptx", "setp.ge.s64(.*%rd65;)", r"setp.gt.s64\1", count=0)
    wrong = source("wrong", module=Path(module))
    words = ["--cu", wrong, "--launch", LAUNCH, "softmax/warp_per_row f32 rows=3 cols=65"]
    assert "(softmax.cu:11)" in validate("replay --no-shrink", *words, code=1).out


@pytest.mark.parametrize(
    "part, words",
    [
        ("--cu requires --launch", ["--cu", "mine.cu"]),
        ("--launch: only a --ptx or a --cu has a launch file", ["--launch", LAUNCH]),
        ("none.cu: there is no such file that can be read", ["--cu", "none.cu", "--launch", LAUNCH]),
    ],
)
def test_wrong_words(validate, mine, part, words):
    validate.refuses(part, "run", *words)


def test_what_the_compiler_refuses(validate):
    broken = source("broken_one", text="broken\n")
    said = 'broken_one.cu: nvcc refuses it: broken_one.cu(3): error: identifier "broken" is undefined'
    validate.refuses(said, "run", "--cu", broken, "--launch", LAUNCH)


@pytest.mark.parametrize(
    "part, named",
    [
        ("ASSAY_NVRTC names 'none.so', which cannot be opened", "none.so"),
        ("is no NVRTC: it lacks nvrtcCreateProgram", "libm.so.6"),
    ],
)
def test_what_is_no_nvrtc(validate, mine, part, named):
    validate.refuses(part, "run", "--cu", mine, "--launch", LAUNCH, env={"ASSAY_NVRTC": named})


@pytest.mark.parametrize("compiler", ["nvcc", "nvrtc"])
@pytest.mark.parametrize("compiled", sorted((SOURCES / "datasets/ptx").glob("*.cu")), ids=lambda path: path.stem)
def test_real_compilers(validate, monkeypatch, compiler, compiled):
    if not {"nvcc": NVCC, "nvrtc": NVRTC}[compiler]:
        pytest.skip(f"no {compiler} is here")
    if NVCC:
        monkeypatch.setenv("PATH", os.path.dirname(NVCC), prepend=os.pathsep)
    if compiler == "nvrtc":
        monkeypatch.setenv("ASSAY_NVRTC", NVRTC)
    validate("run --suite sanitize --watch --quiet", "--cu", compiled, "--launch", compiled.with_suffix(".json"))
