# SPDX-License-Identifier: Apache-2.0
"""Tests that records of a part of a run are no pass, that a run is resumed, and that shards are merged."""
import gzip
import os
import re
import shutil
from pathlib import Path

import pytest

from command_line import HANGS, cases, changed, lines, of_kind, read, records, untimed, values, write

SOFTMAX = "run --backend simt --op softmax --kernel naive --dtype f16"
SOME = f"{SOFTMAX} --suite smoke"  # 49 cases, a fraction of a second
FAULTY = f"run --backend simt --suite sanitize --op layernorm_residual --kernel calls_abort,naive --shrink {HANGS}"
CODE = ('"softmax/naive":"[^"]*"', '"softmax/naive":"0"')


@pytest.fixture(scope="module", autouse=True)
def full(validate, folder):
    """The records of a whole run, and of parts of it: cut short, interrupted, without some cases, and with none."""
    validate.works(f"{SOME} --json full.jsonl")
    found = lines("full.jsonl")
    write("cut.jsonl", "".join(found[:20]))
    write("interrupted.jsonl", "".join(found[:20]) + found[-1].replace('"interrupted":false', '"interrupted":true'))
    write("lost.jsonl", "".join(found[:20]) + found[-1])
    write("head.jsonl", found[0])
    changed("cut.jsonl", "bad.jsonl", '"verdict":"passed"', '"verdict":"failed"', count=0)
    return found


def is_partial(program, line):
    """Tests that the command says in its first line that the evidence is incomplete, and that --partial accepts it; returns what
    it said then."""
    said = program(line, code=3)
    assert "INCOMPLETE: " in said.out.splitlines()[0]
    accepted = program(f"{line} --partial")
    assert "INCOMPLETE: " in accepted.out.splitlines()[0]
    return accepted


# --- a part of a run is no pass


@pytest.mark.parametrize("part", ["cut", "interrupted", "lost"])
@pytest.mark.parametrize(
    "line",
    [
        "report {0}.jsonl -o {0}.md",
        "compare full.jsonl {0}.jsonl",
        "compare {0}.jsonl full.jsonl",
        f"{SOME} --quiet --shard 1/9 --same-as {{0}}.jsonl",
    ],
)
def test_a_part_is_partial(validate, line, part):
    is_partial(validate, line.format(part))


@pytest.mark.parametrize("part", ["cut", "interrupted", "lost"])
def test_a_part_is_no_baseline(validate, part):
    validate.refuses("cannot be a baseline: ", f"compare base.jsonl {part}.jsonl --accept -m why")


@pytest.mark.parametrize(
    "line",
    ["report head.jsonl -o head.md", "run --backend simt --last-failed bad.jsonl", "replay --backend simt --from bad.jsonl"],
)
def test_other_parts_are_partial(validate, line):
    is_partial(validate, line)


def test_a_whole_run_is_not_partial(validate):
    validate("compare full.jsonl full.jsonl")
    validate("report full.jsonl -o full.md")


def test_what_is_wrong_counts_first(validate):
    validate("compare full.jsonl bad.jsonl", code=1)


# --- resumed: equal to an unbroken run, wherever it was broken


@pytest.fixture
def part():
    """The file of a run that is resumed."""
    path = Path("part.jsonl")
    path.unlink(missing_ok=True)
    return path


@pytest.mark.parametrize("count", [0, 1, 2, 20, 48, 49, None])
def test_resumed_after_some_lines(validate, full, part, count):
    write(part, "".join(full[:count]))
    validate(f"{SOME} --quiet --resume {part}")
    assert untimed(part) == untimed("full.jsonl")


def test_resumed_from_a_line_cut_off(validate, full, part):
    write(part, "".join(full[:9]) + full[9][:300])
    validate(f"{SOME} --quiet --resume {part}")
    assert untimed(part) == untimed("full.jsonl")


def test_a_new_file(validate, part):
    validate(f"{SOME} --quiet --resume {part}")
    assert untimed(part) == untimed("full.jsonl")


def test_nothing_left_to_judge(validate, part):
    shutil.copy("full.jsonl", part)
    said = validate(f"{SOME} --resume {part} --junit part.xml --md part.md --same-as full.jsonl")
    assert untimed(part) == untimed("full.jsonl")
    assert len(re.findall("^.*<testcase", read("part.xml"), re.MULTILINE)) == len(cases("full.jsonl"))
    assert "49 passed · 0 failed" in said.out
    same = "49 verdicts as in full.jsonl, 0 different, 0 cases that only one has; 49 outputs bit-equal, 0 not"
    assert same in said.out


def test_other_bits(validate, full, part):
    write(part, "".join(re.sub('"digest":"[0-9a-f]*"', '"digest":"0"', line) for line in full[:30]))
    said = validate(f"{SOME} --same-as {part} --partial")
    assert "0 outputs bit-equal, " in said.out
    said = validate(f"{SOME} --quiet --same-as {part} --partial --bit-equal", code=1)
    assert "DIFFERENT  softmax/naive f16" in said.out


def test_declined_where_another_judge_placed_the_tensors(validate, full, part):
    judged = [number for number, line in enumerate(full) if '"record":"case"' in line]
    lines = list(full)
    for number in judged[1:]:
        lines[number] = lines[number].replace('"verdict":"passed"', '"verdict":"unsupported"')
    write(part, "".join(lines))
    assert "DIFFERENT  " in validate(f"{SOME} --quiet --same-as {part}", code=1).out
    lines[0] = re.sub('"judges":{[^}]*}', '"judges":{"softmax":"0"}', lines[0])
    write(part, "".join(lines))
    said = validate(f"{SOME} --quiet --same-as {part}")
    assert "not compared: 48 cases that a kernel takes here and declines there" in said.out
    assert "1 verdicts as in part.jsonl, 0 different" in said.out


def test_resumed_after_a_budget(validate, part):
    validate(f"{SOME} --quiet --budget 1ms --json {part}", code=3)
    validate(f"{SOME} --quiet --resume {part}")
    assert untimed(part) == untimed("full.jsonl")


def test_resumed_where_a_later_case_had_tried_a_fault(validate, full, part):
    kept = [line for line in full if re.search('"record":"(run|case)"', line) and '"dropped_cols"' not in line]
    kept[-1] = kept[-1].replace('"verdict"', '"faults":{"dropped_cols":true},"verdict"', 1)
    write(part, "".join(kept))
    validate(f"{SOME} --quiet --resume {part}")
    assert untimed(part) == untimed("full.jsonl")


def test_failures_of_the_first_part_count_and_are_shrunk(hostile, part):
    hostile(f"{FAULTY} --json full_faulty.jsonl", code=1)
    write(part, "".join([line for line in lines("full_faulty.jsonl") if '"record":"shrunk"' not in line][:9]))
    hostile(f"{FAULTY} --resume {part}", code=1)
    assert untimed(part) == untimed("full_faulty.jsonl")
    assert len(of_kind("shrunk", records(part))) == 1


# --- what is not the same run is refused, and the file stays as it is


@pytest.mark.parametrize(
    "part, line",
    [
        (
            "the selection '--suite smoke --seed 2026 --op softmax --kernel naive --dtype f16', and this run has '--suite edges",
            "run --backend simt --suite edges",
        ),
        ("the selection", f"{SOME} --seed 1"),
        ("the selection", "run --backend simt --op softmax --kernel naive"),
        ("the shard '', and this run has '1/2'", f"{SOME} --shard 1/2"),
        ("--resume adds to its own file", f"{SOME} --json x.jsonl"),
        ("--resume adds to its own file", f"{SOME} --fail-fast"),
        ("is named as two outputs", f"{SOME} --junit ./cut.jsonl"),
    ],
)
def test_another_run(validate, full, part, line):
    validate.refuses(part, f"{line} --resume cut.jsonl")
    assert lines("cut.jsonl") == full[:20]


@pytest.fixture(scope="module")
def sandbox():
    """The sandbox of the whole run; a machine without one skips the test."""
    (name,) = values("sandbox", records("full.jsonl"))
    if name.startswith("off"):
        pytest.skip("workers have no sandbox here")
    return name


@pytest.fixture(scope="module")
def open_shard(validate, sandbox):
    """A shard that ran without the sandbox."""
    validate(f"{SOME} --quiet --shard 1/3 --no-sandbox --json open1.jsonl")
    return "open1.jsonl"


def test_another_sandbox(validate, full, sandbox):
    part = f"with the sandbox '{sandbox}', and this run has 'off: --no-sandbox'"
    validate.refuses(part, f"{SOME} --no-sandbox --resume cut.jsonl")
    assert lines("cut.jsonl") == full[:20]


@pytest.mark.parametrize(
    "part, pattern, by",
    [
        ("the code of softmax/naive has changed", *CODE),
        ("version '0.0.9'", '"version":"[^"]*"', '"version":"0.0.9"'),
        ("commit 'old'", '"commit":"[^"]*"', '"commit":"old"'),
        ("with other cases", '"plan":"[^"]*"', '"plan":"0"'),
        ("and none of an older version", '"kernels"', '"hashes"'),
    ],
)
def test_another_head(validate, part, pattern, by):
    changed("cut.jsonl", "changed.jsonl", pattern, by, line=1)
    validate.refuses(part, f"{SOME} --resume changed.jsonl")


def test_a_case_twice(validate, full):
    write("twice.jsonl", "".join(full[:3]) + full[2])
    part = "'twice.jsonl' line 4: this run has no such case, or has it already"
    validate.refuses(part, f"{SOME} --resume twice.jsonl")


def test_only_a_plain_file_is_resumed(validate):
    write("full.jsonl.gz", gzip.compress(Path("full.jsonl").read_bytes()))
    for path in ("full.jsonl.gz", "-"):
        validate.refuses("a plain file", f"{SOME} --resume {path}")


# --- shards


@pytest.fixture(scope="module")
def shards(validate, full):
    """The three shards of the run, and a part of the second one."""
    for i in (1, 2, 3):
        validate(f"{SOME} --quiet --shard {i}/3 --json shard{i}.jsonl")
    write("part2.jsonl", "".join(lines("shard2.jsonl")[:9]))


@pytest.fixture(scope="module")
def merged(validate, shards):
    validate("merge shard3.jsonl shard1.jsonl shard2.jsonl --json merged.jsonl")
    return "merged.jsonl"


@pytest.fixture(scope="module")
def gap(validate, shards):
    """What is said where a shard is missing, merged into gap.jsonl."""
    return is_partial(validate, "merge shard3.jsonl shard1.jsonl --json gap.jsonl")


def without_faults(path, name):
    """Writes the cases of a file without what was found of faults; returns the path."""
    kept = [line for line in lines(path) if '"record":"case"' in line]
    return write(name, "".join(re.sub(',"faults":{[^}]*}', "", line) for line in kept))


def test_merged_shards_are_the_whole_run(validate, merged, full):
    ours, theirs = without_faults("full.jsonl", "ours.jsonl"), without_faults(merged, "theirs.jsonl")
    assert untimed(ours) == untimed(theirs)
    ours = write("ours.jsonl", full[-1])
    theirs = write("theirs.jsonl", lines(merged)[-1])
    assert untimed(ours) == untimed(theirs)  # the end of all shards
    validate(f"compare full.jsonl {merged}")
    validate(f"report {merged} -o merged.md")


def test_a_missing_shard(validate, gap):
    assert "missing: shard 2/3" in gap.out
    is_partial(validate, "compare full.jsonl gap.jsonl")


def test_a_part_of_a_shard(validate, shards):
    said = is_partial(validate, "merge shard3.jsonl shard1.jsonl part2.jsonl --json gap2.jsonl")
    assert "shard 2/3 ('part2.jsonl'): the file ends before its run did" in said.out
    validate.refuses("merged from 3 files", f"{SOME} --resume gap2.jsonl")


def test_a_resumed_shard(validate, shards):
    shutil.copy("part2.jsonl", "resumed2.jsonl")
    validate(f"{SOME} --quiet --shard 2/3 --resume resumed2.jsonl")
    assert untimed("resumed2.jsonl") == untimed("shard2.jsonl")


def test_a_shard_of_another_sandbox(validate, shards, open_shard):
    validate.refuses(
        f"'{open_shard}' ran without the sandbox that", f"merge {open_shard} shard2.jsonl shard3.jsonl --json x.jsonl"
    )


@pytest.fixture(scope="module")
def other_shards(validate, shards):
    """A shard of another seed, and one of another code."""
    validate(f"{SOME} --seed 1 --quiet --shard 2/3 --json other_seed.jsonl")
    changed("shard2.jsonl", "other_code.jsonl", *CODE, line=1)


@pytest.mark.parametrize(
    "part, files",
    [
        ("are the same shard, 1/3", "shard1.jsonl shard1.jsonl --json x.jsonl"),
        ("is no shard of a run", "shard1.jsonl full.jsonl --json x.jsonl"),
        ("named as input and as output", "shard1.jsonl shard2.jsonl --json ./shard1.jsonl"),
        ("are not of one run: their selection is", "shard1.jsonl other_seed.jsonl --json x.jsonl"),
        ("another code of softmax/naive", "shard1.jsonl other_code.jsonl --json x.jsonl"),
    ],
)
def test_no_shards_of_one_run(validate, other_shards, part, files):
    validate.refuses(part, f"merge {files}")
    assert not os.path.exists("x.jsonl")


def test_a_failure_in_a_shard(validate, shards):
    changed("shard2.jsonl", "failed2.jsonl", '"verdict":"passed"', '"verdict":"failed"', line=2)
    said = validate("merge shard1.jsonl failed2.jsonl shard3.jsonl --json failed.jsonl", code=1)
    assert "48 passed · 1 failed" in said.out
