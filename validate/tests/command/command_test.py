# SPDX-License-Identifier: Apache-2.0
"""Tests the command with right input: what it prints, records and exits with.  usage_test.py has wrong input, console_test.py how a
terminal shows it."""
import json
import os
import re
import resource
import shlex
import subprocess
import xml.dom.minidom
from pathlib import Path

import pytest

from command_line import HANGS, cases, lines, of_kind, read, records, records_in, run, values

OP = "layernorm_residual"
SANITIZE = "run --backend simt --suite sanitize"
QUICK = f"{SANITIZE} --op {OP} --kernel naive"  # 13 cases, a fraction of a second
SUBCOMMANDS = ["list", "describe", "run", "replay", "bench", "compare", "report", "probe", "cost", "doctor"]


@pytest.fixture(scope="module")
def first_run(validate, folder):
    """A run over the suite sanitize, with its files a.jsonl, a.xml and a.md."""
    return validate.works(f"{SANITIZE} --json a.jsonl --junit a.xml --md a.md")


@pytest.fixture(scope="module")
def second_run(validate, first_run):
    """The same run again, with its files b.jsonl and b.xml."""
    return validate.works(f"{SANITIZE} --json b.jsonl --junit b.xml")


# --- every subcommand, with right input


@pytest.mark.parametrize(
    "line",
    [
        "list ops",
        "list kernels",
        "list cases",
        "list backends",
        f"list cases --suite edges --op {OP}",
        f"describe {OP}",
        "doctor",
        QUICK,
        f"replay '{OP}/naive f16 rows=3 cols=257 seed=7' --backend simt",
        f"replay {OP}/naive f16 rows=3 cols=257 --backend simt",  # not quoted
        f"bench --backend simt --op {OP} --kernel naive --shape 'rows=4 cols=64' --dtype f16",
        f"cost '{OP} f32 rows=3 cols=4'",
        "--help",
        "--version",
    ],
)
def test_right_input(validate, line):
    validate.works(line)


def test_list_of_chosen_kernels(validate):
    assert validate.works(f"list kernels --op {OP} --kernel naive").out.count("\n") == 2  # under a heading
    assert validate.works(f"list kernels --kernel {OP}/naive").out.splitlines()[1].split()[:2] == [OP, "naive"]
    assert validate.works(f"list kernels -k '*/naive f16' --op {OP},softmax").out.count("\n") == 3


def test_memory_of_a_full_size(validate):
    shape = "batch=1 seq_q=4096 seq_k=4096 heads=32 kv_heads=32 head_dim=128"  # for nothing runs
    said = validate.works("bench --backend simt --memory --op attention_forward --dtype f16 --json size.jsonl --shape", shape)
    found = of_kind("memory", records("size.jsonl"))
    assert [record["workspace_bytes"] for record in found if record["kernel"] == "unfused"] == [32 * 4096 * 4096 * 2]
    assert set(values("tensor_bytes", found)) == {4 * 4096 * 32 * 128 * 2 + 32 * 4096 * 4}
    (mma_tiled,) = [line for line in said.out.splitlines() if "mma_tiled" in line]
    assert "-100.0 %" in mma_tiled  # a kernel without workspace


def test_memory_of_a_table(validate):
    said = validate.works("bench --backend simt --memory --suite ln-residual --dtype f16 --json table.jsonl")
    assert "ln-residual · Fused LayerNorm + residual against PyTorch" in said.out
    head, *found = records("table.jsonl")
    assert head["suite"] == "ln-residual"  # of the whole file
    assert len(of_kind("memory", found)) == 29


@pytest.mark.parametrize(
    "inputs, size, part",
    [("bytes", 512, "no clock"), ("bytes", 1024, "lays out the tensors differently"), ("none", 512, "cannot open none")],
)
def test_orders_to_a_timing_process(validate, empty_folder, inputs, size, part):
    Path("bytes").write_bytes(bytes(512))
    order = {
        "line": "softmax f16 rows=32 cols=8 seed=1",
        "inputs": inputs,
        "input_bytes": size,
        "kernels": ["naive"],
        "seconds": 0.01,
    }
    order |= {"leave_out_slow": False, "judge": True, "outputs": "bytes", "output_bytes": 512}
    said = validate("timer simt", given=json.dumps(order, separators=(",", ":")).encode() + b"\n", code=None)
    assert part in said.out.splitlines()[-1]


def test_errors(validate):
    said = validate.works(f"run --backend simt --suite errors --op {OP} --dtype f16 --kernel naive --json errors.jsonl")
    shown = [line.split()[3] for line in said.out.splitlines() if line.startswith(f"  {OP}")]  # a line a case
    assert len(shown) == 4
    assert shown == [f"{error:.2e}" for error in values("max_abs_error", cases("errors.jsonl"))]


def test_selfcheck(trial):
    one = "selfcheck --backend simt --kernel epsilon_outside_root"
    trial.works(f"{one} --op {OP}")
    assert trial(f"{one} --quiet", code=None).out.count("\n") == 1
    trial.works(f"{one} --op {OP} --policies --md selfcheck.md")
    assert len(re.findall(r"^\*\*1 of 1 broken kernels caught", read("selfcheck.md"), re.MULTILINE)) == 1


# --- exit codes


def test_a_failure_is_shrunk(trial):
    said = trial("replay --backend simt --shrink", str(HANGS), f"{OP}/unbiased_variance f32 rows=3 cols=4", code=1)
    # Note: of one column the variance is 0 / 0, and a NaN is another failure.
    again = f"validate replay --set trial '{OP}/unbiased_variance f32 rows=1 cols=2 seed=0 judge="
    for part in ("failed: ", "y[row 0, col ", "label          deterministic", again):
        assert part in said.out


def test_a_failure_is_not_shrunk(trial):
    said = trial("replay --backend simt --no-shrink", f"{OP}/unbiased_variance f32 rows=3 cols=4", code=1)
    assert "smallest" not in said.out


@pytest.mark.parametrize("flags, code", [("", 3), ("--partial", 0)])
def test_nothing_was_run(validate, flags, code):
    assert "nothing was run" in validate(f"{QUICK} --shard 999/1000 {flags}", code=code).out


def test_no_descriptor_for_workers(validate):
    assert "can be open (ulimit -n)" in validate(QUICK, limits={resource.RLIMIT_NOFILE: 10}, code=3).out


def test_no_rows(validate):
    validate("replay --backend simt", f"{OP}/naive f16 rows=0 cols=4")


def test_values_that_are_zero_by_chance(validate):
    """Its right values are all within their bound of zero.  That makes a suite's case suspect, but not one typed by hand."""
    line = "layernorm_linear/mma_tiled bf16 tokens=5 hidden=221 out=113 epsilon=1e-06 fill=ramp seed=1020593698"
    said = validate.works("replay --backend simt", line)
    assert "passed: by chance every right value is within its bound of zero" in said.out


@pytest.mark.parametrize("shape", ["rows=1073741824 cols=4096", "rows=0 cols=1099511627776"])
def test_a_case_that_is_too_large_for_memory(validate, shape):
    assert "of memory and" in validate("replay --backend simt", f"{OP}/naive f32 {shape}", code=3).out


def test_a_case_that_is_too_large_is_accepted(validate):
    validate("replay --partial --backend simt", f"{OP}/naive f32 rows=1073741824 cols=4096")


# --- records


def test_what_a_run_prints(first_run):
    assert "\033" not in first_run.all
    assert "\r" not in first_run.all
    assert " passed · " in first_run.out.splitlines()[-1]


def test_records_of_a_run(first_run):
    found = records("a.jsonl")
    assert found[0]["record"] == "run"
    assert found[-1]["record"] == "end"
    assert f"| {OP} | naive |" in read("a.md")


def test_junit(first_run, second_run):
    assert len(xml.dom.minidom.parse("a.xml").getElementsByTagName("testcase")) == len(cases("a.jsonl"))
    first, second = (re.findall('classname="[^"\n]*" name="[^"\n]*"', read(path)) for path in ("a.xml", "b.xml"))
    assert first == second
    assert len(first) == len(set(first))


def test_records_of_two_runs(first_run, second_run):
    assert timeless("a.jsonl") == timeless("b.jsonl")


# --- records on standard output, everything else on standard error


def test_records_on_standard_output(validate, first_run):
    said = validate(f"{SANITIZE} --json -")
    assert len(of_kind("case", records_in(said.out))) == len(cases("a.jsonl"))
    assert " passed · " in said.err


def test_rows_on_standard_output(validate):
    assert records_in(
        validate(f"bench --backend simt --op {OP} --kernel naive --shape 'rows=4 cols=64' --dtype f16 --json -").out
    )


def test_the_reader_of_records_leaves(validate):
    validate.piped(f"{SANITIZE} --json -", code=141)


def test_the_reader_of_a_list_leaves(validate):
    assert validate.piped("list cases --suite edges", code=141).err == ""


def test_records_are_appended_to_a_standard_output(validate, empty_folder):
    Path("appended").write_text("before\n")
    with open("appended", "a") as output:
        subprocess.run([validate, *shlex.split(QUICK), "--json", "-"], stdout=output, stderr=subprocess.DEVNULL, check=True)
    assert lines("appended")[0] == "before\n"


# --- --json of list, describe and doctor


@pytest.mark.parametrize(
    "line", ["list ops", "list kernels", "list cases --suite sanitize", "list backends", f"describe {OP}", "doctor"]
)
def test_json(validate, line):
    json.loads(validate.works(f"{line} --json").out)


def test_json_of_one_kernel(validate):
    said = validate.works(f"list kernels --json --kernel {OP}/naive")
    assert re.findall('"op": "([^"]*)"', said.out) == [OP]


# --- help and the man page


@pytest.mark.parametrize("subcommand", SUBCOMMANDS)
def test_help_of(validate, subcommand):
    assert "Exit codes:" in validate.works(f"{subcommand} --help").out


def test_help(validate):
    text = validate("--help").out
    assert validate("help", code=None).all == text
    assert "--man" not in text
    text = validate("run --help").out
    assert validate("help run", code=None).all == text
    for part in ("ASSAY_DATASETS", "NO_COLOR", "evidence incomplete"):
        assert part in text


def test_man_page(validate):
    page = validate.works("--man").out
    assert ".TH VALIDATE 1" in page
    for subcommand in SUBCOMMANDS:
        assert f'.SS "validate {subcommand}"' in page


def test_only_the_trial_lists_broken_kernels(validate, trial):
    assert " broken " not in validate("list ops").out
    assert " broken " in trial("list ops").out


# --- tables in a pipe have 80 columns, and no text of them is cut


def wider_than_80(said):
    """Lines of more than 80 characters, but for repro lines and the first and the last line of a run."""
    lines = [line for line in said.out.splitlines() if not re.search("seed=|^Assay |^[0-9]* passed", line)]
    return [line for line in lines if len(line) > 80]


@pytest.mark.parametrize(
    "line",
    [
        "list ops",
        "list kernels",
        "list backends",
        QUICK,
        f"bench --backend simt --op {OP} --shape 'rows=4 cols=64'",
        f"cost --suite sanitize --op {OP}",
    ],
)
def test_tables(validate, line):
    assert wider_than_80(validate.works(line)) == []


def test_the_table_of_a_run(first_run):
    assert wider_than_80(first_run) == []


def test_no_text_is_cut(validate):
    assert "…" not in validate.works(f"describe {OP}").out


def test_quiet(validate):
    assert validate.works(f"{QUICK} --quiet").out.count("\n") == 1


# --- equal seeds give equal records, other seeds other cases


def timeless(path):
    """The cases of a file as text, but for their seconds."""
    return [re.sub('"seconds":[^,}]*', "", line) for line in lines(path) if '"record":"case"' in line]


def test_seeds(validate):
    draws = f"run --backend simt --suite random --op {OP},softmax --kernel naive --dtype f32"
    drawn = []
    for number, (seed, count) in enumerate([(1, 5), (1, 5), (3, 5), (1, 9)]):
        validate.works(f"{draws} --seed {seed} --count {count} --json drawn{number}.jsonl")
        drawn.append(timeless(f"drawn{number}.jsonl"))
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def test_shards(validate):
    def listed(flags=""):
        return validate.works(f"list cases --suite edges {flags}").out.splitlines()[:-1]

    parts = [listed(f"--shard {i}/3") for i in (1, 2, 3)]
    together = sorted(sum(parts, []))
    assert together == sorted(listed())
    assert len(together) == len(set(together))


def test_an_op_named_twice(validate):
    once, twice = (validate(f"list cases --op {ops}").out.splitlines()[-1] for ops in (OP, f"{OP},{OP}"))
    assert once == twice


# --- budget, fail-fast


def test_a_budget(validate):
    said = validate("run --backend simt --suite edges --budget 0.000001s --json budget.jsonl", code=3)
    found = cases("budget.jsonl")
    assert len([case for case in found if case["verdict"] == "skipped" and case["reason"].startswith("the budget")]) == len(found)
    assert "skipped: the budget" in said.out
    assert "evidence incomplete: " in said.out


def test_a_budget_is_accepted(validate):
    validate(f"run --backend simt --suite edges --op {OP} --budget 1ms --partial")


FAULTY = f"{SANITIZE} --op {OP} --kernel calls_abort,naive"


def test_fail_fast(hostile):
    said = hostile(f"{FAULTY} --fail-fast --shrink {HANGS} --json fast.jsonl", code=1)
    found = records("fast.jsonl")
    assert values("verdict", of_kind("case", found)).count("crashed") == 1
    assert values("label", of_kind("shrunk", found)).count("deterministic") == 1
    assert "  smallest   " in said.out


def test_fail_fast_is_not_shrunk(hostile):
    hostile(f"{FAULTY} --fail-fast --no-shrink --json unshrunk.jsonl", code=1)
    assert of_kind("shrunk", records("unshrunk.jsonl")) == []


# --- a failure that needs earlier calls: the command that is printed repeats it


def verdicts(said):
    """The verdicts of a replay, each a word."""
    return re.findall("^  verdict  *([^ \n]*)", said.out, re.MULTILINE)


def test_a_failure_that_needs_earlier_calls(binaries, hostile):
    said = hostile(
        f"run --backend simt --op {OP} --dtype f16 --kernel wrong_from_sixtieth_call --suite smoke --shrink {HANGS}", code=1
    )
    assert "needs earlier calls: passes alone (2 of 2), fails after " in said.out
    again = re.search(r"^  again  +((?:.*\\\n)*.*)\n", said.out, re.MULTILINE)[1]
    assert again.count("\n") > 0  # several lines
    name, verb, *words = shlex.split(again.replace("\\\n", ""))
    assert verb == "replay"
    judged = verdicts(run(binaries / name, verb, "--backend", "simt", "--no-shrink", *words, code=1))
    assert (judged[0], judged[-1]) == ("passed", "failed:")  # the first case and the last one


def test_lines_are_replayed_in_their_order(hostile):
    """The first one takes longest to prepare."""
    words = [f"{OP}/wrong_from_sixtieth_call f16 rows=2048 cols=2048 seed=1"]
    words += [f"{OP}/wrong_from_sixtieth_call f16 rows=3 cols=5 seed={seed}" for seed in range(1, 31)]
    judged = verdicts(hostile("replay --backend simt --no-shrink", *words, code=1))
    assert (judged[0], judged[-1]) == ("passed", "failed:")


# --- --last-failed and replay --from


@pytest.fixture(scope="module")
def bad_run(hostile, folder):
    """A run with failures, recorded in bad.jsonl."""
    return hostile(f"{FAULTY} --no-shrink --json bad.jsonl", code=1)


def crashed(path):
    return [case for case in cases(path) if case["verdict"] == "crashed"]


def test_one_failure_a_reason(bad_run):
    """As it came, and at the end."""
    assert len(re.findall(f"^CRASHED  {OP}/calls_abort ", bad_run.out, re.MULTILINE)) == 2
    assert "cases fail like this" in bad_run.out


def test_last_failed(hostile, bad_run):
    hostile("run --backend simt --last-failed bad.jsonl --no-shrink --json again.jsonl", code=1)
    assert values("repro", records("again.jsonl")) == values("repro", crashed("bad.jsonl"))


def test_replay_from(hostile, bad_run):
    said = hostile("replay --backend simt --from bad.jsonl --no-shrink", code=1)
    assert said.out.count("  verdict        crashed") == len(crashed("bad.jsonl"))
    assert f"validate replay --set hostile '{OP}/calls_abort " in said.out


def test_nothing_has_failed(validate, first_run):
    validate("run --backend simt --last-failed a.jsonl", code=3)
    assert "no bad case in 'a.jsonl'" in validate("replay --backend simt --from a.jsonl", code=3).out


def test_a_kernel_that_is_not_here_has_failed(validate, bad_run):
    validate.refuses("unknown kernel 'calls_abort'", "run --backend simt --last-failed bad.jsonl")


# --- stores without st() cannot be watched: unsupported with --watch, and bench does not count their bytes

WATCHED = "replay --backend simt --watch --no-shrink"


def test_plain_stores(hostile):
    said = hostile(f"run --backend simt --watch --suite sanitize --op {OP} --kernel stores_plainly", code=3)
    assert "not watchable: y was written without st()" in said.out
    assert "FAILED" not in said.out
    hostile(f"{SANITIZE} --op {OP} --kernel stores_plainly")
    said = hostile.works(f"bench --backend simt --op {OP} --kernel stores_plainly --shape 'rows=4 cols=64' --dtype f32")
    assert "bytes not counted: y was written without st()" in said.out


def test_an_element_that_nobody_stores(trial):
    assert "failed: unwritten: " in trial(WATCHED, f"{OP}/dropped_tail f32 rows=3 cols=257", code=1).out


def test_an_element_that_need_not_be_stored(validate):
    """Rope in place need not store the channel that it does not rotate."""
    line = "rope/vector16 f16 batch=1 seq_q=3 heads=2 kv_heads=1 head_dim=17 in_place=yes"
    assert "not checked    accesses without ld and st" in validate(WATCHED, line).out


def test_every_access_is_watched(validate, binaries):
    if not os.path.exists(binaries / "sets/watch"):
        pytest.skip("this compiler cannot instrument accesses")
    said = validate(WATCHED, "--set", "watch", f"{OP}/naive f32 rows=3 cols=257")
    assert "not checked" not in said.out


# --- other working folders


def test_another_folder(validate, empty_folder):
    validate.works(QUICK)


def test_a_read_only_folder(validate, empty_folder):
    empty_folder.chmod(0o500)
    validate.works(QUICK)
    assert os.listdir() == []
