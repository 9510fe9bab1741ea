# SPDX-License-Identifier: Apache-2.0
"""Tests that hostile files of records and datasets are refused in one sentence, and that nothing of them reaches a terminal, a page
or a spreadsheet as a command."""
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from command_line import SOURCES, changed, lines, read, write, write_records

RUN = {
    "record": "run",
    "schema": 1,
    "version": "0",
    "commit": "c",
    "compiler": "g",
    "build": "b",
    "backend": "cuda",
    "device": "d",
}
RUN |= {"host": "h", "date": "t", "suite": "s", "seed": 1}
TIMES = {"time_us": {"median": 5, "p5": 4, "p95": 6, "min": 3, "max": 7, "samples": 9}, "flops": 1}
TIMES |= {
    "bytes": {"formula": 1, "unfused_formula": 1},
    "copy_rate_bytes_per_s": 1,
    "share_of_copy": 0.5,
    "margin_after_timing": 0.3,
}
SANITIZE = "run --backend simt --suite sanitize --op softmax"
DEPTH = 100_000
DEEP = "[" * DEPTH
TOO_DEEP = "its lists and objects lie too deep in each other"


def row(kernel, shape):
    return {"record": "bench", "op": "softmax", "kernel": kernel, "dtype": "f16", "shape": shape, **TIMES}


@pytest.fixture(scope="module", autouse=True)
def files(validate, folder):
    write_records("good.jsonl", RUN, row("naive", "rows=1"))
    validate("report good.jsonl -o good.md")
    write("deep.jsonl", json.dumps(RUN) + '\n{"record":"bench","x":' + DEEP + "]" * DEPTH + "}\n")
    write("deeper.jsonl", DEEP + "\n")
    os.mkfifo("pipe")


# --- files of records, by all that reads them

READERS = {
    "report": "report {} -o x.md",
    "compare, after": "compare good.jsonl {}",
    "compare, before": "compare {} good.jsonl",
    "same-as": f"{SANITIZE} --same-as {{}}",
    "last-failed": "run --backend simt --last-failed {}",
    "merge": "merge {} --json x.jsonl",
    "resume": f"{SANITIZE} --resume {{}}",
    "probe": "probe --backend simt --against {}",
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "file, why",
    [
        ("deep.jsonl", f"'deep.jsonl' line 2 is not a record: {TOO_DEEP}"),
        ("deeper.jsonl", f"'deeper.jsonl' line 1 is not a record: {TOO_DEEP}"),
        ("pipe", "cannot read 'pipe': it is a pipe, not a file"),
        ("/dev/zero", "cannot read '/dev/zero': it is a device, not a file"),
        (".", "cannot read '.': Is a directory"),
    ],
)
def test_no_file_of_records(validate, reader, file, why):
    if (reader, file) == ("resume", "deep.jsonl"):
        why = "only a record of run can be resumed"
    validate.refuses(why, READERS[reader].format(file))


@pytest.mark.parametrize("value", ["1e308", "1.7e308"])
def test_a_time_that_is_too_large(validate, value):
    changed("good.jsonl", "large.jsonl", '"median":5', f'"median":{value}', line=2)
    validate.refuses("'large.jsonl' line 2: 'median' is", "report large.jsonl -o x.html")
    validate.refuses("'large.jsonl' line 2: 'median' is", "compare large.jsonl good.jsonl")


@pytest.mark.parametrize("value", ["1e309", "-1e400"])
def test_a_number_out_of_range(validate, value):
    changed("good.jsonl", "large.jsonl", '"median":5', f'"median":{value}', line=2)
    validate.refuses("'large.jsonl' line 2 is not a record: a number of it is out of range", "report large.jsonl -o x.html")


# --- datasets

GPT2 = Path("data/models/gpt2-124m.json")
EDGES = Path("data/edges/softmax.json")
SHAPES = Path("data/bench/softmax.json")


@pytest.fixture
def data(folder):
    """A copy of the datasets, to be broken."""
    shutil.rmtree("data", ignore_errors=True)
    return shutil.copytree(SOURCES / "datasets", "data")


def replace_by(path, make, *arguments):
    """Removes a file or a folder, and makes something else of its name."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    make(*arguments, path)


def with_control_characters(path):
    changed(path, path, '("name": *")', r"\1\\u001b[2J")
    changed(path, path, '("source": *")', r"\1\\u001b[2J")


def with_number_out_of_range(path):
    changed(path, path, '"hidden": *[0-9]*', '"hidden": 1e999')


@pytest.mark.parametrize(
    "part, path, spoil",
    [
        (f"{GPT2}: cannot be read: it is a pipe, not a file", GPT2, lambda path: replace_by(path, os.mkfifo)),
        (f"{GPT2}: cannot be read: it is a device, not a file", GPT2, lambda path: replace_by(path, os.symlink, "/dev/zero")),
        (f"{EDGES}: cannot be read: Is a directory", EDGES, lambda path: replace_by(path, os.mkdir)),
        ("data/models: not a folder of datasets", GPT2.parent, lambda path: replace_by(path, os.mkfifo)),
        (f"{GPT2}: its lists and objects lie too deep", GPT2, lambda path: write(path, DEEP + "\n")),
        ("the text has a control character", GPT2, with_control_characters),
        ("a number is out of range", GPT2, with_number_out_of_range),
    ],
)
def test_datasets(validate, data, part, path, spoil):
    spoil(path)
    validate.refuses(part, f"{SANITIZE} --datasets data")


@pytest.mark.parametrize(
    "part, spoil",
    [
        ("cannot be read: it is a pipe, not a file", lambda path: replace_by(path, os.mkfifo)),
        ("its lists and objects lie too deep", lambda path: write(path, '{"shapes":' + DEEP + "\n")),
    ],
)
def test_shapes_to_time(validate, data, part, spoil):
    spoil(SHAPES)
    validate.refuses(f"{SHAPES}: {part}", "bench --backend simt --op softmax --kernel naive --datasets data")


# --- control characters and formulas

EVIL = "\u001b[2J\u0007\r\n\u007f\u009b31m"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")  # all but the end of a line


@pytest.fixture(scope="module")
def evil(folder):
    """Records with control characters and formulas in every text."""
    verdict = {"record": "case", "op": "softmax", "kernel": f"k{EVIL}", "dtype": "f16", "verdict": "failed", "reason": f"r{EVIL}"}
    return write_records(
        "evil.jsonl",
        RUN | {"device": f"d{EVIL}", "commit": f"@c{EVIL}"},
        row(f"=HYPERLINK(1){EVIL}", "rows=1"),
        *(row(f"{first}1+1", f"{first}x") for first in "+-@"),
        verdict | {"repro": f"softmax/k f16 rows=1{EVIL}"},
    )


@pytest.mark.parametrize("end", ["md", "html", "csv"])
def test_no_control_character_in_a_report(validate, evil, end):
    said = validate(f"report {evil} -o evil.{end}", code=None)
    text = read(f"evil.{end}")
    if end == "csv":
        text = text.replace("\r\n", "\n")
    assert CONTROL.findall(text) == []
    assert CONTROL.findall(said.all) == []


def test_no_cell_is_a_formula(validate, evil):
    validate(f"report {evil} -o cells.csv", code=None)
    _, *rows = lines("cells.csv")
    assert not [line for line in rows if re.search('(^|,)"?[=+@-]', re.sub(",-?[0-9.e+-]+", "", line))]
    assert "'=HYPERLINK(1)" in read("cells.csv")


def test_no_control_character_is_said(validate, evil):
    changed(evil, "before.jsonl", '"verdict":"failed"', '"verdict":"passed"')
    assert CONTROL.findall(validate(f"compare before.jsonl {evil} --all", code=1).all) == []
    assert CONTROL.findall(validate(f"replay --backend simt --from {evil}", code=None).all) == []
