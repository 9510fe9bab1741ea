# SPDX-License-Identifier: Apache-2.0
"""The file route of the PTX door: a module with a launch file is judged like a kernel of ours, its faults are found, and what is
wrong with the files is told in a sentence."""
import shutil

import pytest

from command_line import SOURCES, cases, changed, read, records, values, write
from judged import reasons

MODULE = SOURCES / "examples/ptx/softmax.ptx"
LAUNCH = SOURCES / "examples/ptx/softmax.json"
COMPILED = SOURCES / "datasets/ptx"
BOXES = COMPILED / "linear_wgmma"
RUN = "run --suite sanitize --no-shrink"


def files(module=MODULE, launch=LAUNCH):
    """The words that name a module and its launch file."""
    return ["--ptx", module, "--launch", launch]


# --- a module is judged
@pytest.fixture(scope="module")
def judged(validate):
    return validate(f"{RUN} --watch --json records.jsonl", *files())


def test_records_of_a_module(judged):
    head, *_ = records("records.jsonl")
    judged_cases = cases("records.jsonl")
    assert head["backend"] == "simt"
    assert set(values("kernel", judged_cases)) == {"warp_per_row"}
    assert {case["verdict"] for case in judged_cases if case["dtype"] == "f32"} == {"passed"}


def test_what_the_verdicts_rest_on(judged):
    assert "exact" in values("fidelity", cases("records.jsonl"))
    assert "fidelity exact: softmax/warp_per_row" in judged.out


def test_a_modelled_instruction(validate):
    module = changed(MODULE, "modelled.ptx", "ex2.approx.ftz.f32", "tanh.approx.f32", count=0)
    validate(f"{RUN} --json modelled.jsonl", *files(module), code=None)
    assert "modelled: `tanh.approx.f32` (modelled.ptx:196)" in values("fidelity", cases("modelled.jsonl"))


@pytest.fixture(scope="module")
def narrow(folder):
    """A module that adds in 16 bits."""
    return changed(MODULE, "narrow.ptx", "ret;", "{ .reg .b32 %x<3>; add.f16x2 %x1, %x2, %x2; } ret;")


def test_a_sum_in_16_bits(validate, narrow):
    validate(f"{RUN} --json narrow.jsonl", *files(narrow))
    assert "adds in 16 bits, and sums in f32 are declared" in read("narrow.jsonl")


def test_a_sum_in_16_bits_as_declared(validate, narrow):
    launch = changed(LAUNCH, "f16.json", "accumulate=f32", "accumulate=f16")
    validate(f"{RUN} --json declared.jsonl", *files(narrow, launch))
    assert "adds in 16 bits" not in read("declared.jsonl")


@pytest.mark.parametrize("module", sorted(COMPILED.glob("*.ptx")), ids=lambda module: module.stem)
def test_what_compilers_emit(validate, module):
    validate("run --suite smoke --watch --quiet", *files(module, module.with_suffix(".json")))


def test_conditions_of_a_launch(validate):
    launch = changed(LAUNCH, "strict.json", '"cols > 0"', '"aligned(x, 16)", "stride(x, 0) % 4 == 0"')
    validate(f"{RUN} --json strict.jsonl", *files(launch=launch))
    judged = cases("strict.jsonl")
    told = "\n".join(reasons("warp_per_row", judged))
    assert "the launch file asks for aligned(x, 16)" in told
    assert "the launch file asks for stride(x, 0) % 4 == 0" in told
    assert "passed" in values("verdict", judged)


def test_doctor(validate):
    assert "checks, 0 failed" in validate("doctor", *files()).out


def test_the_launch_file_is_a_part_of_the_code(validate):
    line = f"{RUN} --dtype f32 --shard 1/4 --resume resumed.jsonl"
    shutil.copy(LAUNCH, "same.json")
    validate(line, *files(launch="same.json"))
    changed("same.json", "same.json", r"\(rows, 4\)", "(rows, 8)")
    validate.refuses("the code of softmax/warp_per_row has changed since", line, *files(launch="same.json"))


# --- faults in the module
def test_a_row_too_many(validate):
    module = changed(MODULE, "row_too_many.ptx", "setp.ge.s64(.*%rd65;)", r"setp.gt.s64\1", count=0)
    validate(f"{RUN} --json row_too_many.jsonl", *files(module), code=1)
    told = "\n".join(reasons("warp_per_row", cases("row_too_many.jsonl")))
    assert "out_of_bounds: read of 4 bytes ending 4 bytes past the end of 'x'" in told


def test_half_of_a_warp(validate):
    module = changed(MODULE, "half.ptx", "%r7, 16;", "%r7, 8;", count=0)
    validate(RUN, *files(module), code=1)


def test_an_unknown_instruction(validate):
    module = changed(MODULE, "wrong.ptx", "shfl.sync.bfly.b32", "tcgen05.ld", count=0)
    said = "wrong.ptx:117: `tcgen05.ld` is no instruction that the machine runs"
    validate.refuses(said, RUN, *files(module))


@pytest.mark.parametrize(
    "part, text",
    [
        ("wrong.ptx:", MODULE.read_bytes()[:5000]),
        ("wrong.ptx:1: a PTX module begins with .version, not 'no'", "no module"),
    ],
    ids=["cut off", "no module"],
)
def test_what_is_no_module(validate, part, text):
    validate.refuses(part, RUN, *files(write("wrong.ptx", text)))


# --- faults in the launch file
@pytest.mark.parametrize(
    "part, pattern, by",
    [
        ("wrong.json: /op: unknown op 'softmx'. Did you mean 'softmax'?", '"softmax"', '"softmx"'),
        (
            "wrong.json: /launches/0/grid/0: unknown name in 'ceil_div(row, 4)' 'row'. Did you mean 'rows'?",
            r"\(rows, 4\)",
            "(row, 4)",
        ),
        ("')' was expected at its character 17", r"\(rows, 4\)", "(rows, 4"),
        (
            "wrong.json: /launches/0/parameters/2: 'softmax_f32' takes 8 bytes there, and 4 are given",
            "i64 rows",
            "i32 rows",
        ),
        ("takes 6 parameters, and 5 are given", '"i64 rows", ', ""),
        (
            "wrong.json: /launches/0/entry: unknown entry 'softmax_f3'. Did you mean 'softmax_f32'?",
            'softmax_f32"',
            'softmax_f3"',
        ),
        ("unknown dtype 'f8'", '"f32": "softmax_f32"', '"f8": "softmax_f32"'),
        ("wrong.json: /launches/0: unknown key 'grids'. Did you mean 'grid'?", '"grid"', '"grids"'),
        ("the tensor 'x' has 2 axes", r"stride\(x, 0\)", "stride(x, 2)"),
        ("unknown tensor 'z'", "ptr x", "ptr z"),
        ("unknown tensor 'z'", '"cols > 0"', '"aligned(z, 16)"'),
        ("an alignment is a power of two up to 256", '"cols > 0"', '"aligned(x, 12)"'),
    ],
)
def test_wrong_launch_files(validate, part, pattern, by):
    launch = changed(LAUNCH, "wrong.json", pattern, by)
    validate.refuses(part, RUN, *files(launch=launch))


NO_MAP = "wrong.json: /launches/0/parameters/0: 'map NAME box=[N, ...]', and 'swizzle=32', 64 or 128 behind it, was expected"


@pytest.mark.parametrize(
    "part, pattern, by",
    [
        (NO_MAP, "map x box", "map x bax"),
        (NO_MAP, r"128\] swizzle=128", "128] swizzle=96"),
        ("wrong.json: /launches/0/parameters/0: unknown tensor 'z'", "map x", "map z"),
        ("wrong.json: /launches/0/parameters/0: the box has 1 axes, and 'x' has 2.", r"\[64,128\]", "[64]"),
        (
            "wrong.json: /launches/0/parameters/0: the box of a map has 1 to 256 elements along each axis.",
            r"\[64,128\]",
            "[64,512]",
        ),
        ("wrong.json: /launches/0/dependent: expected true or false.", '"shared"', '"dependent": 1, "shared"'),
        ("'linear_f16' takes 8 bytes there, and 128 are given", "ptr bias", "map bias box=[8]"),
    ],
)
def test_wrong_launch_files_with_maps(validate, part, pattern, by):
    launch = changed(BOXES.with_suffix(".json"), "wrong.json", pattern, by)
    validate.refuses(part, RUN, *files(BOXES.with_suffix(".ptx"), launch))


@pytest.mark.parametrize(
    "part, words",
    [
        ("--ptx requires --launch", ["--ptx", MODULE]),
        ("only the kernels of a --plugin run there", [*files(), "--backend", "host"]),
        ("none.json: ", files(launch="none.json")),
    ],
)
def test_wrong_words(validate, part, words):
    validate.refuses(part, RUN, *words)
