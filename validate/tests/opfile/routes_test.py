# SPDX-License-Identifier: Apache-2.0
"""Tests that every route takes an op that a file describes: its verdicts, margins and bits are those of the same op of the tree."""
import json
import subprocess
import zipfile

import pytest

from command_line import SOURCES, cases, write

OWN = {
    "op": "own_softmax",
    "axes": {"rows": 0},
    "inputs": {"x": "rows cols"},
    "outputs": {"y": "rows cols"},
    "formula": ["y = softmax[cols](x)"],
}
SHAPE = "f32 rows=5 cols=37 fill=ramp seed=7"
PTX = SOURCES / "examples/ptx/softmax.ptx"


@pytest.fixture(scope="module", autouse=True)
def own(folder):
    write("own.json", json.dumps(OWN))
    return f"--op-file {folder}/own.json"


def renamed(text):
    """The source or the launch file of a softmax as one of own_softmax."""
    return text.replace('"softmax"', '"own_softmax"')


def figures(validate, where, op, kernel, run, route):
    """What must not differ between an op of a file and the tree's: verdict, largest err/bound, bits."""
    written = f"{op}.jsonl"
    validate(f"run --suite edges --quiet --dtype f32 {run} --op {op} --json {written}", *where, *route)
    all_cases = {(json.dumps(c["axes"]), c["fill"], c["layout"]): c for c in cases(written)}
    assert len(all_cases) > 100
    told = validate.works(f"replay {run}", *where, *route, f"{op}/{kernel} {SHAPE}").out
    lines = [line for line in told.splitlines() if line.split()[:1] in (["verdict"], ["err/bound"], ["digest"], ["worst"])]
    return lines, {key: c["verdict"] for key, c in all_cases.items()}


def alike(validate, kernel, run, route_of_tree, route_of_own):
    lines, verdicts = figures(validate, [], "softmax", kernel, run, route_of_tree)
    own_lines, own_verdicts = figures(validate, ["--op-file", "own.json"], "own_softmax", kernel, run, route_of_own)
    assert own_lines == lines and len(lines) == 4
    shared = verdicts.keys() & own_verdicts.keys()
    assert len(shared) > 60 and all(verdicts[key] == own_verdicts[key] for key in shared)


def test_ptx(validate):
    launch = (SOURCES / "examples/ptx/softmax.json").read_text()
    write("tree.json", launch)
    write("launch.json", renamed(launch))
    alike(
        validate,
        "warp_per_row",
        "--backend simt",
        ["--ptx", PTX, "--launch", "tree.json"],
        ["--ptx", PTX, "--launch", "launch.json"],
    )


def test_plugin(validate, compiler):
    source = (SOURCES / "examples/plugin/softmax.c").read_text()
    for name, text in (("tree", source), ("own", renamed(source))):
        write(f"{name}.c", text)
        words = [compiler, "-O2", "-shared", "-fPIC", "-I", SOURCES / "include", f"{name}.c", "-o", f"lib{name}.so", "-lm"]
        subprocess.run(words, check=True)
    alike(validate, "serial_row", "--backend host", ["--plugin", "./libtree.so"], ["--plugin", "./libown.so"])


def test_every_line_that_is_printed_has_the_file(validate, own):
    validate(
        "run --backend simt --suite sanitize --quiet --op-file own.json --json own.jsonl", "--ptx", PTX, "--launch", "launch.json"
    )
    assert all(case["loaded"].startswith(f"{own} --ptx") for case in cases("own.jsonl"))


def test_files(validate):
    right = {}
    for op, flag in (("softmax", []), ("own_softmax", ["--op-file", "own.json"])):
        validate.works(f"golden '{op} {SHAPE}' -o {op}.npz", *flag)
        validate.works(f"inputs '{op} {SHAPE}' -o in_{op}.npz", *flag)
        assert "passed" in validate.works(f"judge in_{op}.npz {op}.npz", *flag).out
        with zipfile.ZipFile(f"{op}.npz") as file:
            right[op] = file.read("y.npy")
    assert right["softmax"] == right["own_softmax"]


def test_its_cases_are_listed_without_a_kernel(validate):
    listed = json.loads(validate.works("list cases --suite smoke --op-file own.json --op own_softmax --json").out)
    assert len(listed["cases"]) > 50


def test_the_variable_stands_for_the_flag(validate, folder):
    told = validate.works("describe own_softmax", env={"ASSAY_OP_FILES": f"{folder}/own.json"}).out
    assert told == validate.works("describe own_softmax --op-file own.json").out


@pytest.mark.parametrize(
    "changed, part",
    [
        ({"op": "softmax"}, "there are two ops of the name 'softmax'"),
        (
            {"op": "rows_of_mine", "inputs": {"x": "rows seed"}, "outputs": {"y": "rows seed"}, "formula": ["y = 2 * x"]},
            "the axis 'seed' has the name of something else in a repro line",
        ),
        ({"outputs": {"y": "rows"}}, "the output 'y' has rows, and the array rows, cols"),
        ({"formula": ["y = softmax[cols](x"]}, "')' is missing"),
    ],
)
def test_what_is_no_op(validate, changed, part):
    write("wrong.json", json.dumps({**OWN, **changed}))
    validate.refuses(part, "list ops --op-file wrong.json")


def test_a_file_twice(validate):
    validate.refuses("there are two ops of the name 'own_softmax'", "list ops --op-file own.json --op-file own.json")


def test_an_op_without_a_kernel(validate):
    part = "no kernel of own_softmax, the op of "
    validate.refuses(part, "run --backend simt --op-file own.json")
    validate.refuses(part, "run --backend simt --op-file own.json --op own_softmax")
    validate("run --backend simt --suite sanitize --op-file own.json --op softmax --kernel naive --dtype f32 --quiet")


def test_cases_for_which_it_is_not_defined_are_left_out(validate):
    write("even.json", json.dumps({**OWN, "legal": ["quotient(extent[cols], 2) * 2 == extent[cols]"]}))
    route = ["--ptx", PTX, "--launch", "launch.json"]
    counts = []
    for file in ("own.json", "even.json"):
        validate(f"run --backend simt --suite edges --dtype f32 --quiet --op-file {file} --json defined.jsonl", *route)
        counts.append(len(cases("defined.jsonl")))
    assert all(case["axes"]["cols"] % 2 == 0 for case in cases("defined.jsonl"))
    assert 20 < counts[1] < counts[0]
    validate.refuses(
        "needs quotient(extent[cols], 2)",
        "replay --backend simt --op-file even.json",
        *route,
        f"own_softmax/warp_per_row {SHAPE}",
    )
