# SPDX-License-Identifier: Apache-2.0
"""Tests inputs, golden and judge: a kernel that reads and writes files."""
import json
import os
import shutil
import struct
import sys
from pathlib import Path

import pytest

from command_line import SOURCES, changed, of_kind, read, records, run, values, write

LINE = "softmax f16 rows=33 cols=65 seed=7"
POOL = "kv_append f32 batch=2 seq_q=2 pages=4 page_size=2 max_pages=2 kv_heads=1 head_dim=8"
ATTENTION = "attention_forward f16 batch=1 seq_q=1 seq_k=1 heads=1 kv_heads=1 head_dim=8"
FORMATS = ["safetensors", "npz"]
UNCHECKED = (
    "writes outside tensors, changed inputs, reads outside tensors, races, reads of memory that nobody wrote, traffic, a second run, "
    "relations"
)


@pytest.fixture(scope="module", autouse=True)
def files(validate, folder):
    """Inputs of a case in both formats, and right and wrong outputs; by its format, what `inputs` said."""
    said = {}
    for end in FORMATS:
        said[end] = validate.works(f"inputs {LINE} -o in.{end}")
        validate.works(f"golden --inputs in.{end} -o y.{end}")
    validate.works(f"golden {LINE} --f64 -o y64.npz")
    shutil.copy("y64.npz", "y")
    validate.works("golden softmax f16 rows=33 cols=65 seed=8 -o wrong.npz")  # another case's
    validate.works(f"inputs {LINE} layout=padded -o padded.safetensors")
    os.mkfifo("pipe")
    os.symlink("/dev/null", "null.npz")
    write("cut.safetensors", Path("in.safetensors").read_bytes()[:100])
    write("cut.npz", Path("in.npz").read_bytes()[:600])
    return said


@pytest.fixture(scope="module")
def judged(validate, files):
    """A file with the record of right outputs."""
    validate("judge in.npz y.npz --json right.jsonl")
    return "right.jsonl"


@pytest.fixture(scope="module")
def wrong(validate, files):
    """What is said of wrong outputs, recorded in wrong.jsonl."""
    return validate("judge in.npz wrong.npz --json wrong.jsonl", code=1)


# --- right outputs in both formats, and from one to the other


@pytest.mark.parametrize("end", FORMATS)
def test_inputs_and_golden(validate, files, end):
    assert "x f16 [33, 65]" in files[end].out
    assert "to be computed  y f16 [33, 65]" in files[end].out
    validate.works("golden", LINE, "-o", f"line.{end}")
    assert Path(f"line.{end}").read_bytes() == Path(f"y.{end}").read_bytes()


@pytest.mark.parametrize("inputs", FORMATS)
@pytest.mark.parametrize("outputs", FORMATS)
def test_right_outputs(validate, inputs, outputs):
    said = validate(f"judge in.{inputs} y.{outputs} --json records.jsonl")
    assert LINE in said.out
    assert "verdict        passed" in said.out
    assert f"not checked    {UNCHECKED}" in said.out
    assert "held to        f32 accumulation, any order" in said.out
    assert "1 passed · 0 failed" in said.out
    found = records("records.jsonl")
    assert values("given", found) == [f"judge in.{inputs} y.{outputs}"]
    assert len(of_kind("end", found)) == 1


def test_records_are_compared_and_reported(validate, judged):
    validate(f"compare {judged} {judged}")
    validate.works(f"report {judged} -o report.md")


# --- wrong outputs


@pytest.mark.parametrize("part", ["verdict        failed: err/bound", "worst          y[row ", "golden 0.", "pattern        "])
def test_wrong_outputs(wrong, part):
    assert part in wrong.out


def test_records_of_wrong_outputs(validate, judged, wrong):
    validate.refuses("unknown kernel 'elsewhere'", "replay --backend simt --from wrong.jsonl")
    validate(f"compare wrong.jsonl {judged}")
    validate(f"compare {judged} wrong.jsonl", code=1)


# --- a declaration decides: sums in bf16 allow what sums in f32 do not


def test_numerics(validate):
    said = validate("judge in.npz wrong.npz --numerics 'accumulate=f32 chain=1'", code=1)
    assert "held to        accumulate=f32 chain=1 (as declared)" in said.out
    validate.refuses(
        "unknown word of numerics 'acumulate'. Did you mean 'accumulate'?", "judge none none --numerics acumulate=f16"
    )


# --- a suggestion, which no verdict uses


def test_suggested_numerics(validate):
    said = validate("judge in.npz y.npz --suggest-numerics --json suggested.jsonl")
    assert "suggested      `accumulate=f32 chain=1` is the tightest" in said.out
    (suggested,) = of_kind("suggested", records("suggested.jsonl"))
    assert "accumulate=f32 chain=1" in suggested.values()


def test_no_numerics_suit_wrong_outputs(validate):
    assert "suggested      no usual declaration" in validate("judge in.npz wrong.npz --suggest-numerics", code=1).out


def test_suggested_numerics_of_a_kernel(validate):
    said = validate("run --backend simt --op softmax --kernel naive --suite sanitize --suggest-numerics")
    assert "SUGGESTED  softmax/naive  `accumulate=f32 chain=1` is the tightest" in said.out


# --- an op that changes a tensor: its old and its new values have one name, so one file has either


def test_a_changed_tensor(validate):
    validate.works(f"inputs {POOL} -o pool.safetensors")
    validate.works("golden --inputs pool.safetensors -o new_pool.safetensors")
    validate("judge pool.safetensors new_pool.safetensors")
    for same in ("pool.safetensors", "./pool.safetensors"):
        part = "kv_append changes 'k_pool', so its inputs and its outputs must be in two files"
        validate.refuses(part, f"judge pool.safetensors {same}")


# --- kernels of ours on the same files


def test_our_kernels_on_the_files(validate):
    validate("run --backend simt --inputs in.npz --json run.jsonl")
    found = records("run.jsonl")
    assert len(of_kind("case", found)) == len(json.loads(validate("list kernels --op softmax --json").out)["kernels"])
    assert "run --inputs in.npz --kernel softmax/naive" in values("given", found)
    validate("run --backend simt --kernel naive --inputs padded.safetensors")


# --- what is not there, and what cannot be


@pytest.mark.parametrize(
    "part, line",
    [
        ("'y64.npz': 'y' has the dtype f64, and f16 as of the inputs was expected", "judge in.npz y64.npz"),
        ("'y': 'y' has the dtype f64, and f16 as of the inputs was expected", "judge in.npz y"),
        ("the file of --inputs is the case", "run --backend simt --inputs in.npz --suite smoke"),
        ("the file of --inputs is the case", "run --backend simt --inputs in.npz --resume resumed.jsonl"),
        ("only a file of --inputs leaves it unsaid", "run --backend simt --attribute scale=1"),
        ("'y.npz': the tensor 'x'", "run --backend simt --inputs y.npz"),
        ("'none.npz' cannot be read as tensors: No such file or directory", "judge none.npz y.npz"),
        ("'none.npz' cannot be read as tensors: No such file or directory", "judge in.npz none.npz"),
        ("'y.npz': the tensor 'x' [rows, cols] of softmax is missing", "judge y.npz y.npz"),
        ("'in.npz': the tensor 'y' [rows, cols] of softmax is missing", "judge in.npz in.npz"),
        (
            "'in.npz': they are of the op 'softmax' by their metadata, and 'gelu' was asked for",
            "judge in.npz y.npz --op gelu",
        ),
        ("'in.npz': softmax has no attributes", "judge in.npz y.npz --attribute scale=1"),
        ("'y.txt' ends in neither .safetensors nor .npz", f"golden {LINE} -o y.txt"),
        ("cannot write", f"inputs {LINE} -o /no/such/folder/x.npz"),
        ("golden takes a repro line, or --inputs FILE", "golden -o y.npz"),
        ("a repro line already says it", f"golden {LINE} --op softmax -o y.npz"),
        ("axis 'cols' is missing", "inputs softmax f16 rows=3 -o x.npz"),
        ("scale must be finite and not negative", f"inputs {ATTENTION} scale=-1 -o x.npz"),
        ("scale=nan: not finite", f"inputs {ATTENTION} scale=nan -o x.npz"),
        ("it is a pipe, not a file", "judge pipe y.npz"),
        ("cannot write 'null.npz': it is no file", f"golden {LINE} -o null.npz"),
        ("'cut.safetensors' cannot be read as tensors: its header has", "judge cut.safetensors y.npz"),
        ("it begins as a zip file and has no directory at its end", "judge cut.npz y.npz"),
    ],
)
def test_refusals(validate, part, line):
    validate.refuses(part, line)


# --- a layout is told, and the values are the same


def test_a_layout(validate):
    assert '"x.strides":"68 1"' in read("padded.safetensors")[:400]
    said = validate("judge padded.safetensors y.npz")
    assert "softmax f16 rows=33 cols=65 layout=padded seed=7" in said.out


# --- a kernel in another language, and tensors that someone captured


@pytest.fixture(scope="module")
def elsewhere(validate, folder):
    """Inputs in f32, and the outputs of the kernel of examples/files."""
    validate.works("inputs softmax f32 rows=33 cols=65 -o given.safetensors")
    run(sys.executable, SOURCES / "examples/files/softmax.py", "given.safetensors", "out.safetensors")
    return "given.safetensors"


def captured(path, name):
    """Writes the only tensor of a file under a name, with metadata and a tensor that say nothing of the op; returns the path."""
    data = Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    elements = data[8 + size :]
    step = {"dtype": "U8", "shape": [], "data_offsets": [len(elements), len(elements) + 1]}
    text = json.dumps({"__metadata__": {"format": "pt", "run": "7"}, name: header["x"], "step": step}).encode()
    return write(f"captured_{name}.safetensors", struct.pack("<Q", len(text)) + text + elements + b"e")


def test_outputs_of_another_language(validate, elsewhere):
    validate(f"judge {elsewhere} out.safetensors")
    script = changed(SOURCES / "examples/files/softmax.py", "wrong.py", "p / total for", "p * 1.0001 / total for")
    run(sys.executable, script, elsewhere, "wrong.safetensors")
    validate(f"judge {elsewhere} wrong.safetensors", code=1)


def test_captured_inputs(validate, elsewhere):
    x = captured(elsewhere, "x")
    part = "nothing says which op they are of; --op, or 'op' in the metadata, was expected"
    validate.refuses(part, f"judge {x} out.safetensors")
    said = validate(f"judge {x} out.safetensors --op softmax")
    for part in (
        "softmax f32 rows=33 cols=65 fill=given seed=0",
        "relations, all errors together",
        "NOT USED       tensor 'step', metadata 'run'",
    ):
        assert part in said.out
    validate(f"run --backend simt --inputs {x} --op softmax --kernel naive")
    validate.refuses("is 'xs' meant to be it?", f"judge {captured(elsewhere, 'xs')} out.safetensors --op softmax")


def test_captured_outputs(validate, elsewhere):
    said = validate(f"judge {elsewhere} {captured(elsewhere, 'y')}", code=1)
    assert "NOT USED       tensor 'step', metadata 'run'" in said.out
