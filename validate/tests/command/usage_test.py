# SPDX-License-Identifier: Apache-2.0
"""Tests that the command refuses wrong input in one sentence, and that the next step which it names works."""
import os
import re
import resource
import shlex
import shutil
import subprocess

import pytest

from command_line import SOURCES, changed, lines, read, records, run, write

OP = "layernorm_residual"
QUICK = f"run --backend simt --suite sanitize --op {OP} --kernel naive"  # 13 cases, a fraction of a second


@pytest.fixture(scope="module", autouse=True)
def recorded(validate, folder):
    """The records of a run, which the tests only read."""
    validate.works(f"{QUICK} --json a.jsonl")
    return "a.jsonl"


# --- wrong command lines: one sentence, exit code 2, and a next step that works


def try_next_step(validate, binaries, said):
    """Runs the command that stands in parentheses at the end of a refusal, if it can be run as it is."""
    found = re.search(r".*  \((.*)\)$", said.err)
    assert found, "a next step in parentheses was expected"
    step = found[1]
    asks = re.match("validate (list|describe|doctor|replay)", step) or step.endswith("--help")
    judges = step.startswith("validate run")
    if "RECORDS" in step or not (asks or judges):
        return
    name, *words = shlex.split(step)
    some = ["--shard", "999/1000", "--partial"] if judges and not asks else []  # which selects no case
    run(binaries / name, *words, *some)


@pytest.mark.parametrize(
    "part, line",
    [
        ("a subcommand is required", ""),
        ("Did you mean 'doctor'?", "docter"),
        ("Did you mean 'run'?", "rnu"),
        ("Did you mean 'run'?", "RUN"),
        ("Did you mean '--version'?", "--verson"),
        ("the subcommand comes before its flag '--suite'", "--suite smoke run"),
        ("unknown flag '--sutie'. Did you mean '--suite'?", "run --sutie edges"),
        ("'softmax' was not expected here; the op goes after --op  (validate run --op softmax)", "run softmax"),
        ("Did you mean '--op softmax'?", "run SOFTMAX"),
        ("'naive' was not expected here; the kernel goes after --kernel", "run naive"),
        ("'edges' was not expected here; the suite goes after --suite", "run edges"),
        ("'extra' was not expected here", "run extra"),
        ("--suite needs a value", "run --suite"),
        ("-k takes one value, and is given several", "run --backend simt -k softmax/* -k gelu/*"),
        ("Did you mean 'kernels'?", "list kernel"),
        ("'list ops' takes no such flag", "list ops --op softmax"),
        ("'list backends' takes no such flag", "list backends --dtype f16"),
        ("'list kernels' takes no such flag", "list kernels --suite edges"),
        ("op is required", "describe"),
        ("unknown op 'layernorm_residul'. Did you mean 'layernorm_residual'?", "describe layernorm_residul"),
        ("unknown op 'layernorm_residul'. Did you mean 'layernorm_residual'?", "run --op layernorm_residul"),
        ("unknown op 'SOFTMAX'. Did you mean 'softmax'?", "run --op SOFTMAX"),
        ("unknown kernel 'naiv'. Did you mean 'naive'?", "run --kernel naiv"),
        ("unknown kernel 'softmax/naiv'. Did you mean 'softmax/naive'?", "run --kernel softmax/naiv"),
        ("unknown kernel 'naiv'. Did you mean 'naive'?", "bench --backend simt --kernel naiv"),
        ("-k 'nothing/*' matches no kernel", "run -k 'nothing/*'"),
        ("unknown dtype 'fp16'. Did you mean 'f16'?", "run --dtype fp16"),
        ("unknown dtype 'float16'. Did you mean 'f16'?", "run --dtype float16"),
        ("unknown dtype 'half'. Did you mean 'f16'?", "bench --backend simt --dtype half"),
        ("unknown dtype 'bfloat16'. Did you mean 'bf16'?", "replay --backend simt 'softmax/naive bfloat16 rows=3 cols=4'"),
        ("unknown suite 'edge'. Did you mean 'edges'?", "run --suite edge"),
        ("only --suite random and full draw cases", "run --count 5"),
        ("unknown backend 'simd'. Did you mean 'simt'?", "run --backend simd"),
        ("--bit-equal needs a record file", "run --bit-equal"),
        ("--last-failed takes its cases from the records", "run --last-failed a.jsonl --suite edges"),
        ("cannot read 'nowhere.jsonl'", "run --last-failed nowhere.jsonl"),
        ("unknown choice of colours 'alwys'. Did you mean 'always'?", "run --color alwys"),
        ("--shrink", "run --shrink 5s --no-shrink"),
        ("is not a duration", "run --budget '5 parsecs'"),
        ("replay takes a repro line", "replay"),
        ("replay takes a repro line", "replay --from a.jsonl 'softmax/naive f16 rows=3 cols=4'"),
        ("--baseline: unknown kernel 'nope'", "bench --backend simt --op softmax --baseline nope"),
        ("unknown flag '--shard'", "bench --shard 1/2"),
        ("unknown flag '--budget'", "bench --budget 5"),
        ("unknown flag '--fail-fast'", "bench --fail-fast"),
        ("unknown flag '--quiet'", "bench --quiet"),
        ("unknown flag '--jobs'", "bench --jobs 2"),
        ("unknown flag '--count'", "bench --count 2"),
        ("unknown flag '--sectors'", "bench --sectors"),
        ("a repro line already names the case", "cost 'softmax f16 rows=3 cols=4' --suite edges"),
        ("-o is required", "report a.jsonl"),
        ("must end in .html, .md or .csv", "report a.jsonl -o a.pdf"),
    ],
)
def test_wrong_command_lines(validate, binaries, part, line):
    try_next_step(validate, binaries, validate.refuses(part, line))


@pytest.mark.parametrize(
    "part, line",
    [
        ("unknown op 'no_such_op'", "list kernels --op no_such_op"),
        ("unknown op 'linaer'", "cost 'linaer f32 tokens=1'"),
        ("contradict", "run --require-gpu --backend simt"),
        ("--memory runs nothing", "bench --backend simt --memory --sites"),
        ("Did you mean 'ln-residual'?", "bench --backend simt --suite ln-residul"),
        ("--suite and --shape", "bench --backend simt --suite hopper --shape rows=1"),
        *((f"{flag}: ", f"bench --backend simt {flag}") for flag in ("--dram", "--copy", "--clean", "--resources", "--once")),
    ],
)
def test_other_wrong_lines(validate, part, line):
    validate.refuses(part, line)


@pytest.mark.parametrize(
    "part, line",
    [
        ("--fail-fast", "selfcheck --fail-fast"),
        ("unknown policy 'cosin'. Did you mean 'cosine'?", "selfcheck --policy cosin"),
        ("nowhere", "selfcheck --md /nowhere/selfcheck.md"),
    ],
)
def test_wrong_selfchecks(validate, part, line):
    validate.refuses(part, line)


DURATIONS = ["0", "0ms", "-1", "nan", "inf", "1e30", "x", "5x", "5ss", "s", "0x10"]
WRONG_VALUES = {
    "bench --backend simt --seconds": ["0", "nan", "61"],
    "run --jobs": ["0", "-1", "1e30", "nan", "x"],
    "run --timeout": DURATIONS,
    "run --budget": DURATIONS,
    "run --shrink": DURATIONS,
    "run --seed": ["-1", "1e30", "x", "99999999999999999999"],
    "run --count": ["0", "-1", "x", "10000001"],
    "run --shard": ["0/3", "4/3", "1", "1/", "/3", "1/0", "-1/3", "1/3x", "9223372036854775808/9"],
}


@pytest.mark.parametrize("line, value", [(line, value) for line, wrong in WRONG_VALUES.items() for value in wrong])
def test_wrong_values(validate, line, value):
    validate.refuses(line.split()[-1], f"{line}={value}")


@pytest.mark.parametrize("value", ["600", "600s", "600000ms", "10.5m", "1h", "0.5h"])
def test_right_durations(validate, value):
    validate(f"{QUICK} --quiet --timeout {value} --shard 1/13")


# --- repro lines


@pytest.mark.parametrize(
    "part, line",
    [
        ("expected 'op/kernel dtype", "garbage"),
        ("expected 'op/kernel dtype", ""),
        ("unknown op 'layernorn'", "layernorn/naive f16 rows=3 cols=4"),
        ("no kernel after the slash", f"{OP}/ f16 rows=3 cols=4"),
        ("Did you mean 'naive'?", f"{OP}/naivee f16 rows=3 cols=4"),
        ("unknown dtype 'f61'. Did you mean 'f16'?", f"{OP}/naive f61 rows=3 cols=4"),
        ("unknown dtype 'int'. Known: f16, bf16, f32", f"{OP}/naive int rows=3 cols=4"),
        ("axis 'cols' is missing", f"{OP}/naive f16 rows=3"),
        ("given twice", f"{OP}/naive f16 rows=3 cols=4 rows=3"),
        ("Did you mean 'rows'?", f"{OP}/naive f16 row=3 cols=4"),
        ("expected key=value", f"{OP}/naive f16 rows=3 cols=4 fill"),
        ("cols=0", f"{OP}/naive f16 rows=3 cols=0"),
        ("cannot be negative", f"{OP}/naive f16 rows=-3 cols=4"),
        ("out of range", f"{OP}/naive f16 rows=3 cols=9223372036854775808"),
        ("not a whole number", f"{OP}/naive f16 rows=3 cols=1e30"),
        ("not a whole number", f"{OP}/naive f16 rows= cols=4"),
        ("more than 2^40", f"{OP}/naive f16 rows=3 cols=9223372036854775807"),
        ("more than 2^46", f"{OP}/naive f16 rows=1099511627776 cols=1048576"),
        ("Did you mean 'ramp'?", f"{OP}/naive f16 rows=3 cols=4 fill=rampp"),
        ("unknown layout 'paded'. Did you mean 'padded'?", f"{OP}/naive f16 rows=3 cols=4 layout=paded"),
        ("seed", f"{OP}/naive f16 rows=3 cols=4 seed=-1"),
        ("epsilon", f"{OP}/naive f16 rows=3 cols=4 epsilon=nan"),
        ("expected key=value", f"{OP}/naive f16 \001\033[2J cols=4"),
    ],
)
def test_repro_lines(validate, part, line):
    said = validate.refuses(part, "replay --backend simt", line)
    assert "\033" not in said.err


# --- outputs


def test_outputs_of_one_name(validate):
    validate.refuses("named as two outputs", f"{QUICK} --json x --junit x")
    validate.refuses("named as two outputs", f"{QUICK} --json - --junit -")
    assert not os.path.exists("x")


@pytest.fixture
def kept(empty_folder):
    """A file that stays as it is, in a folder in which no other appears."""
    yield write("kept", "precious\n")
    assert read("kept") == "precious\n"
    assert os.listdir() == ["kept"]


FILES = ["--json", "--junit", "--md"]
WRONG = ["--op nope", "--suite nope", "--shard 9", "--json none/x", "--junit none/x", "--md none/x", "--kernel nope"]


@pytest.mark.parametrize("flag", FILES)
def test_places_without_a_file(validate, kept, empty_folder, flag):
    validate.refuses(f"cannot write '{empty_folder}/none/x'", f"{QUICK} {flag} {empty_folder}/none/x")
    validate.refuses("Is a directory", f"{QUICK} {flag} {empty_folder}")


@pytest.mark.parametrize("flag, wrong", [(flag, wrong) for flag in FILES for wrong in WRONG if not wrong.startswith(flag)])
def test_a_file_stays_if_another_flag_is_wrong(validate, kept, flag, wrong):
    validate.refuses("", f"run --backend simt {flag} {kept} {wrong}")


@pytest.mark.parametrize("flag", FILES)
def test_a_full_disk(validate, flag):
    assert "No space left" in validate(f"{QUICK} {flag} /dev/full", code=2).err


def test_a_full_disk_behind_its_output(validate):
    with open("/dev/full", "w") as full:
        assert subprocess.run([validate, "list", "ops"], stdout=full).returncode == 2


def test_no_standard_output(validate):
    words = [validate, *shlex.split(QUICK), "--json", "closed.jsonl"]
    assert subprocess.run(words, preexec_fn=lambda: os.close(1)).returncode == 0
    assert records("closed.jsonl")


def test_a_report_beyond_the_limit_of_a_files_size(validate, recorded):
    validate(f"report {recorded} -o large.html", limits={resource.RLIMIT_FSIZE: 1024}, code=2)
    assert [name for name in os.listdir() if name.startswith("large.html")] == []


# --- one case is judged and one is too large for memory: the evidence is incomplete


@pytest.fixture(scope="module")
def mixed(recorded):
    def bad_case(shape):
        case = (
            f'{{"record":"case","op":"{OP}","kernel":"naive","dtype":"f32","verdict":"failed","repro":"{OP}/naive f32 {shape}"}}'
        )
        return case + "\n"

    return write("mixed.jsonl", lines(recorded)[0] + bad_case("rows=3 cols=4") + bad_case("rows=1073741824 cols=4096"))


def test_incomplete_evidence(validate, mixed):
    said = validate(f"run --backend simt --last-failed {mixed}", code=3)
    assert "1 passed · " in said.out
    assert "evidence incomplete: 1 cases" in said.out
    validate(f"run --backend simt --last-failed {mixed} --partial")


# --- broken datasets

MODEL = "models/gpt2-124m.json"


def edit(pattern, by):
    """A function that replaces a pattern in the file of a model."""
    return lambda: changed(MODEL, MODEL, pattern, by, count=0)


def replace_model_by_folder():
    os.remove(MODEL)
    os.mkdir(MODEL)


@pytest.mark.parametrize(
    "part, spoil",
    [
        ("not a folder", lambda: shutil.rmtree("models")),
        ("it lacks edges/common.json", lambda: os.remove("edges/common.json")),
        (f"{MODEL}: line", lambda: write(MODEL, read(MODEL)[:100])),
        (f"{MODEL}: line", lambda: write(MODEL, "")),
        ("expected a whole number", edit('"hidden": *[0-9]*', '"hidden": "many"')),
        ("'hidden' is missing", edit('[^\n]*"hidden"[^\n]*\n', "")),
        ("Did you mean 'hidden'?", edit('"hidden"', '"hiden"')),
        ("more than 2^40", edit('"hidden": *[0-9]*', '"hidden": 9223372036854775808')),
        ("it has 'name' twice", lambda: changed(MODEL, MODEL, "{", '{"name": "twice",')),
        ("expected an object", lambda: write("edges/common.json", "[]\n")),
        ("unknown op 'layernorm_residul'", lambda: shutil.copy(f"edges/{OP}.json", "edges/layernorm_residul.json")),
        ("cannot be read", replace_model_by_folder),
        pytest.param(
            "cannot be read",
            lambda: os.chmod(MODEL, 0o200),
            marks=pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file"),
        ),
    ],
)
def test_broken_datasets(validate, empty_folder, part, spoil):
    shutil.copytree(SOURCES / "datasets", "data")
    os.chdir("data")
    spoil()
    os.chdir("..")
    validate.refuses(part, f"{QUICK} --datasets data --json never.jsonl")
    assert not os.path.exists("never.jsonl")


# --- where no GPU can be used


@pytest.mark.parametrize("verb", ["run", "bench"])
def test_a_backend_that_is_skipped(validate, without_gpu, verb):
    said = validate(f"{verb} --backend cuda --skip-exit 77", code=77)
    assert verb == "bench" or "skipped: " in said.out


@pytest.mark.parametrize(
    "part, line",
    [
        ("backend cuda cannot be used", "run --backend cuda"),
        ("backend cuda cannot be used", "bench --backend cuda"),
        ("backend cuda cannot be used", f"replay {OP}/naive f16 rows=1 cols=1 --backend cuda"),
        ("no GPU can be used here", "run --require-gpu"),
        ("no GPU can be used here", "run --require-gpu --backend cuda"),
    ],
)
def test_no_gpu(validate, without_gpu, part, line):
    validate.refuses(part, line)
