# SPDX-License-Identifier: Apache-2.0
"""Wrong values of each kind of docs/readers.md."""
import os

BYTES = [
    b"\xff\xfe",
    b"\x1b[2J\x07",
    "\u0663".encode(),
    "\u202e3".encode(),
]  # no UTF-8, a terminal's orders, another digit, marks
NUMERIC = ["x", "nan", "inf", "-inf", "0x10", "+5", " 5", "5 ", "5x", "1e400", "5,", "5 5", "--5", "5;", "1_000", "1'000"]
WHOLE = ["1.5", "1e3", "9223372036854775808", "18446744073709551616", "99999999999999999999999999"]
NAMES = ["nothing", "NOTHING", "%s%n", "a b", "*", "\u00e9" * 300, "../nothing"]
SEVERAL = ("wholes", "ops", "kernels", "steps", "dtypes", "line", "shape", "input")  # may be given more than once


def whole(least, most, *_):
    return [*WHOLE, *NUMERIC, str(int(float(least)) - 1), str(int(float(most)) + 1), *BYTES]


def number(least, most, *_):
    return [*NUMERIC, str(float(least) - 1), str(float(most) * 2), "1e-400", "1.5.5", *BYTES]


def duration(least, most):
    return [*NUMERIC, "-1s", str(float(most) + 1), "1e99h", "5 s", "5d", "5ss", "s", "0", "0s", "1e-320", "nans", *BYTES]


def word(*words):
    return ["nothing", words[0].upper() + "_", words[0] + ",", words[0] + " ", "-1", "0", *BYTES]


def glob(*_):
    return ["nothing*", "[", "nothing/nothing", *BYTES[:3]]


def folder(*_):
    return ["nowhere", "records.jsonl", "empty", "nowhere/../empty", *BYTES]


def line(*_):
    return [
        "softmax",
        "softmax f32",
        "softmax f32 rows=1",
        "softmax f64 rows=1 cols=1",
        "softmax f32 rows=1 cols=0",
        "x f32 rows=1",
        "softmax f32 rows=1 cols=1 rows=1",
        "softmax f32 rows=1 cols=1 x=1",
        "softmax f32 rows=1e3 cols=1",
        "softmax f32 rows=-1 cols=1",
        "softmax f32 rows=1 cols=1 seed=-1",
        "softmax f32 rows=1 cols=1 fill=x",
        "softmax f32 rows=1 cols=1 layout=x",
        "softmax f32 rows=1 cols=nan",
        "softmax f32 rows=1 cols=1x",
        "rmsnorm f32 rows=1 cols=1 epsilon=1e-300",
        "rmsnorm f32 rows=1 cols=1 epsilon=1e39",
        "softmax f32 rows=1 cols=99999999999999999999",
        b"softmax f32 rows=1 cols=\xff",
        b"softmax f32 rows=1 cols=1 fill=\x1b[2J",
    ]


def shape(*_):
    return [
        "rows=2",
        "rows=2 cols",
        "rows=2 cols=0",
        "rows=2 cols=3 rows=2",
        "rows=2 cols=3 x=1",
        "rows=2 cols=x",
        "rows=2 cols=1e3",
        "rows=-2 cols=3",
        "rows=2 cols=nan",
        "rows=2 cols=99999999999999999999",
        "rows=2 cols=3 seed=1 seed=2",
        b"rows=2 cols=\xff",
    ]


def numerics(*_):
    return [
        " ",
        "x",
        "accumulate",
        "accumulate=",
        "accumulate=f99",
        "chain=0",
        "chain=-1",
        "chain=nan",
        "chain=1+",
        "accumulate=f32 accumulate=f32",
        "function_error=-1",
        "function_error=nan",
        "function_error=1e400",
        "mma_terms=1.5",
        "mma_terms=99999999999",
        "fused_exponent=1",
        "factors=tf33",
        *BYTES[:2],
    ]


def pair(key, *_):
    values = (
        ["", "nan", "inf", "1e39", "1e-300", "-1", "0x1", "1x", " 1"]
        if key == "epsilon"
        else ["", "rows", "rows,rows", "cols,rows,x", "bhsd", "rows;cols"]
    )
    return [key, "=", "nothing=1", *[f"{key}={value}" for value in values], key.encode() + b"=\xff", key.encode() + b"=\x1b[2J"]


def command(*_):
    return ["exit 7", "true", "kill -9 $$", "kill -11 $$", "exec sleep 0"]


def input_of(what, *_):
    """A file of that format: none, no file, a file of another format."""
    wrong = ["nowhere", "nowhere/file", ".", "pipe", "/dev/zero", "empty.file", "binary.file", "half.gz", *BYTES]
    other = {"records": ["old.tsv.gz", "in.npz"], "tensors": ["records.jsonl", "text.file"], "ledger": ["records.jsonl"]}
    if what == "text":
        return ["nowhere", ".", "pipe", "/dev/zero", "empty.file", *BYTES]
    if what == "weights":
        wrong.remove(".")
    return wrong + other.get(what, ["records.jsonl"])


def output(*_):
    return ["nowhere/file", ".", "data", "records.jsonl/file", "/dev/full/x", "f" * 300]


def tensors(*_):
    return ["written.txt", "written", "nowhere/x.npz", ".npz/x.npz", "data", "f" * 300 + ".npz"]


KINDS = {
    "whole": whole,
    "wholes": lambda least, most: [v for v in whole(least, most) if v not in ("5,",)] + ["1,,2", "1,x", "1, 2", ",1"],
    "number": number,
    "seed": lambda: [*WHOLE[:2], *WHOLE[3:], *NUMERIC, "-1", *BYTES],
    "duration": duration,
    "word": word,
    "op": lambda: [*NAMES, "softmx", "SOFTMAX", "softmax,", "softmax ", "softmax/naive", *BYTES],
    "ops": lambda: [*NAMES, "softmx", "SOFTMAX", "softmax,,rope", "softmax,x", "softmax ", "softmax/naive", *BYTES],
    "kernels": lambda: [*NAMES, "nave", "naive,,naive", "naive,x", "softmax/", "/naive", "softmax/naive/naive", "naive ", *BYTES],
    "steps": lambda: [
        *NAMES,
        "nave",
        "linear/",
        "/naive",
        "lineal/naive",
        "linear/naive@",
        "linear/naive@x",
        "linear/naive@-1",
        "linear/naive@99",
        "linear/naive@1x",
        *BYTES,
    ],
    "dtypes": lambda: ["f64", "F32", "i32", "half", "float32", "f32,,f16", "f32,x", "f32 ", "32", "nan", *BYTES],
    "glob": glob,
    "shard": lambda: [
        "0/2",
        "3/2",
        "1/0",
        "-1/2",
        "1",
        "1/",
        "/2",
        "1/2/3",
        "1/2x",
        "x",
        "nan/2",
        "1.5/2",
        " 1/2",
        "1/ 2",
        "1/+2",
        "1/99999999999999999999",
        *BYTES,
    ],
    "line": line,
    "shape": shape,
    "numerics": numerics,
    "pair": pair,
    "name": lambda: ["nothing_of_this_name", "no=name", "*", "\u00e9" * 300, *BYTES],
    "text": lambda: [],
    "command": command,
    "set": lambda: [
        "no_such_set",
        "TRIAL",
        "trial ",
        "trial,watch",
        "..",
        "./nowhere",
        "./records.jsonl",
        "./data",
        "/dev/zero",
        "/bin/true",
        *BYTES,
    ],
    "folder": folder,
    "input": input_of,
    "resumed": lambda: [*output(), "old.tsv.gz", "in.npz", "text.file", "records.jsonl", "pipe", "/dev/zero"],
    "output": output,
    "tensors": tensors,
}


def of(kind, _right):
    name, *bounds = kind.split()
    return KINDS[name](*bounds)


def named(kind, value):
    """What a sentence may name beside the flag: the value, or of a value that has several parts one of these."""
    if kind.split()[0] in ("line", "shape", "pair", "numerics"):
        return [part for word in value.split() for part in word.split("=") if part] + ["rows", "cols", "attribute"]
    if kind.split()[0] in ("ops", "kernels", "dtypes", "wholes"):
        return value.split(",")
    return [value]


def attribute(kind):
    """Wrong values of an attribute in a repro line."""
    name, *bounds = kind.split()
    if name == "word":
        return ["nothing", bounds[0].upper(), "", "1", bounds[0] + "," + bounds[1], "\u00e9"]
    wrong = ["x", "", "nan", "inf", "-inf", "1e39", "-1e39", "1e-300", "-1e-46", "1e400", "0x10", "+5", "5x", "1,5"]
    return wrong + (["1.5", "1e18"] if name == "whole" else []) + (["-1"] if float(bounds[0]) >= 0 else [])


def variable(kind):
    name, *bounds = kind.split()
    if name == "word":
        return ["x", bounds[0].upper() + "_", bounds[0] + " ", " " + bounds[0], "\u00e9", "\x1b[2J", os.fsdecode(b"\xff")]
    return {
        "folder": ["nowhere", "records.jsonl", "empty", "\x1b[2J", os.fsdecode(b"\xff")],
        "folders": ["nowhere", "data:nowhere", "records.jsonl", "data::data", os.fsdecode(b"\xff")],
        "files": ["nowhere", "own.json:nowhere", "data", "own.json::own.json", os.fsdecode(b"\xff")],
        "output": ["nowhere/file", "data", "\x1b[2J/x"],
        "text": [],
    }[name]
