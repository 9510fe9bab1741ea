# SPDX-License-Identifier: Apache-2.0
"""Tests compare and report on recorded rows."""
import gzip
import re
import shutil
import sys
from pathlib import Path

import pytest

from command_line import SOURCES, changed, lines, read, run, write

H200 = SOURCES / "reports/baselines/nvidia-h200"
BENCH = H200 / "bench_layernorm_residual.jsonl"
VERDICT = '"verdict":"passed"'


def compress(path):
    with gzip.open(f"{path}.gz", "wb") as file:
        file.write(Path(path).read_bytes())


@pytest.fixture(scope="module", autouse=True)
def recorded(folder):
    """Records of a benchmark, as it was, again, slower, faster, and of fewer and of more processes; verdicts of a run."""
    for name, *flags in [
        ("base.jsonl",),
        ("same.jsonl", "--seed", "2"),
        ("slower.jsonl", "--seed", "3", "--factor", "1.06"),
        ("faster.jsonl", "--seed", "4", "--factor", "0.94"),
        ("few.jsonl", "--processes", "5"),
        ("many.jsonl", "--processes", "12"),
    ]:
        run(sys.executable, SOURCES / "validate/tests/make_records.py", name, BENCH, *flags)
    changed("same.jsonl", "wrong.jsonl", '"margin_after_timing": *[0-9.]*', '"margin_after_timing": "inf"', line=2)
    write("smoke.jsonl", gzip.decompress((H200 / "smoke.jsonl.gz").read_bytes()))
    changed("smoke.jsonl", "failed.jsonl", VERDICT, '"verdict":"failed"')
    write("empty.jsonl", "")
    write("nonsense.jsonl", "nonsense\n")
    write("foreign.jsonl", '{"name":"left-pad"}\n')
    write("headless.jsonl", "".join(lines("base.jsonl")[1:]))
    write("cut.jsonl", read("base.jsonl")[:2000])
    changed("base.jsonl", "negative.jsonl", '"median": *[0-9.]*', '"median": -1', line=2)
    changed("base.jsonl", "kind.jsonl", '"kernel": *"[a-z_]*"', '"kernel": 7', line=2)
    changed("same.jsonl", "planted.jsonl", '("record": *"bench")', r'\1, "planted": 3', line=2)
    for name in ("base.jsonl", "same.jsonl", "smoke.jsonl"):
        compress(name)
    write("cut.jsonl.gz", Path("base.jsonl.gz").read_bytes()[:5000])


def cases_of_smoke():
    return read("smoke.jsonl").count('"record":"case"')


# --- compare as a gate


@pytest.mark.parametrize(
    "after, code, parts",
    [
        ("same", 0, ["SLOWER 0 of 20 rows · FASTER 0 · SAME 20 · INCONCLUSIVE 0 · correctness unchanged"]),
        ("slower", 1, ["SLOWER 1 of 20 rows", "binary unchanged", "clocks equal"]),
        ("faster", 0, ["FASTER 1"]),
        ("few", 0, ["INCONCLUSIVE 20", "5 processes of 30 samples, needs 6 of 30"]),
        ("wrong", 1, ["CORRECTNESS: 1 regressed"]),
    ],
)
def test_gate(validate, after, code, parts):
    said = validate(f"compare base.jsonl {after}.jsonl", code=code)
    for part in parts:
        assert part in " ".join(said.out.split())  # a line may be broken


def test_the_same_twice(validate):
    assert len({validate("compare base.jsonl slower.jsonl", code=1).out for _ in range(2)}) == 1


# --- verdicts of run, on a real record


def test_verdicts_unchanged(validate):
    said = validate("compare smoke.jsonl smoke.jsonl")
    assert f"correctness unchanged over {cases_of_smoke()} cases" in said.out


def test_a_verdict_that_is_worse(validate):
    assert "passed, is failed now" in validate("compare smoke.jsonl failed.jsonl", code=1).out


def test_a_verdict_that_is_better(validate):
    said = validate("compare failed.jsonl smoke.jsonl")
    assert f"correctness better over {cases_of_smoke()} cases; failed before, pass now: 1" in said.out


# --- calibration


def test_calibration(validate):
    assert "false-alarm rate 0.00 %: 0 of 200" in validate("compare --calibrate many.jsonl").out
    validate.refuses("at least 4 processes", "compare --calibrate", BENCH)
    validate.refuses("takes one file", "compare --calibrate base.jsonl same.jsonl")


# --- --accept needs a reason, and refuses wrong outputs


@pytest.fixture
def kept():
    """A baseline of the test's own."""
    return shutil.copy("base.jsonl", "kept.jsonl")


def test_accept(validate, kept):
    validate("compare kept.jsonl slower.jsonl --accept -m 'fewer registers, on purpose'")
    head, *rows = lines(kept)
    assert '"reason":"fewer registers, on purpose"' in head
    assert rows == lines("slower.jsonl")[1:]
    validate("compare kept.jsonl slower.jsonl")


def test_accept_a_first_baseline(validate):
    validate("compare new_baseline.jsonl same.jsonl --accept -m first")


@pytest.mark.parametrize(
    "part, arguments",
    [
        ("needs a reason", "same.jsonl --accept"),
        ("the reason of an --accept", "same.jsonl -m why"),
        ("cannot be a baseline", "wrong.jsonl --accept -m why"),
        ("slowdowns were planted", "planted.jsonl --accept -m why"),
        ("cannot be a baseline", "failed.jsonl --accept -m why"),
    ],
)
def test_not_accepted(validate, kept, part, arguments):
    validate.refuses(part, f"compare kept.jsonl {arguments}")


# --- bad input


@pytest.mark.parametrize(
    "part, line",
    [
        ("cannot read 'nowhere.jsonl'", "compare nowhere.jsonl same.jsonl"),
        ("takes two files", "compare base.jsonl"),
        ("it is a device, not a file", "compare base.jsonl /dev/null"),
        ("holds no records", "compare base.jsonl empty.jsonl"),
        ("no row and no case in common", "compare base.jsonl smoke.jsonl"),
        ("--floor", "compare base.jsonl same.jsonl --floor 0"),
        ("--floor", "compare base.jsonl same.jsonl --floor nan"),
        ("'nonsense.jsonl' line 1 is not a record", "compare base.jsonl nonsense.jsonl"),
        ("begins with a run", "compare headless.jsonl base.jsonl"),
        ("'negative.jsonl' line 2: 'median' is -1", "compare base.jsonl negative.jsonl"),
        ("'cut.jsonl' line 2 is not a record: the file was cut off in the middle of it", "compare base.jsonl cut.jsonl"),
        ("'foreign.jsonl' line 1: a file of records begins with a run", "report foreign.jsonl -o report.md"),
        ("'kind.jsonl' line 2: the field 'kernel' is not a text", "report kind.jsonl -o report.md"),
        ("cannot read '.': Is a directory", "compare base.jsonl ."),
        ("--ab", "bench --backend simt --ab /bin/true --json x.jsonl --ab-json y.jsonl"),
        ("name the baseline 'base.jsonl.gz' without .gz", "compare base.jsonl.gz same.jsonl --accept -m why"),
        ("must end in .html, .md or .csv", "report base.jsonl -o report.pdf"),
        ("cannot read", "report nowhere.jsonl -o report.html"),
        ("cannot write", "report base.jsonl -o nowhere/report.html"),
        ("-o is required", "report base.jsonl"),
    ],
)
def test_bad_input(validate, part, line):
    validate.refuses(part, line)


# --- compressed files


def test_compressed_files(validate):
    assert "SLOWER 0 of 20 rows" in validate("compare base.jsonl.gz same.jsonl.gz").out
    said = validate.works("report base.jsonl.gz smoke.jsonl.gz -o compressed.md")
    assert "20 rows timed, every output right" in said.out
    said = validate("run --backend simt --op softmax --kernel naive --suite smoke --shard 1/20 --same-as smoke.jsonl.gz")
    assert "DIFFERENT" not in said.out


@pytest.mark.parametrize(
    "reader",
    [
        "compare base.jsonl",
        "report -o report.md",
        "run --backend simt --op softmax --kernel naive --suite smoke --same-as",
        "probe --backend simt --against",
    ],
)
def test_a_compressed_file_that_is_cut_off(validate, reader):
    validate.refuses("cannot read 'cut.jsonl.gz': it is a gzip file that was cut off or damaged", f"{reader} cut.jsonl.gz")


# --- reports


@pytest.fixture(scope="module")
def reports(validate, recorded):
    """What is said of the same report in each format."""
    return {end: validate.works(f"report base.jsonl smoke.jsonl -o report.{end}").out for end in ("html", "md", "csv")}


def test_reports(reports):
    assert "20 rows timed, every output right" in reports["csv"]
    assert read("report.csv").count("\n") == 21
    assert "| layernorm_residual | " in read("report.md")


def test_a_page_names_no_address(reports):
    assert re.findall('<[^>\n]*(?:src|href)="[^#\n][^"\n]*"', read("report.html")) == []


def test_texts_of_records_end_no_script_of_a_page(validate, reports):
    changed("smoke.jsonl", "hostile.jsonl", '"reason":"[^"\n]*"', '"reason":"</script><script>alert(1)</script>"', count=0)
    changed("hostile.jsonl", "hostile.jsonl", VERDICT, '"verdict":"failed","reason":"</script>"')
    said = validate.works("report hostile.jsonl -o hostile.html")
    assert read("hostile.html").count("</script>") == read("report.html").count("</script>")
    assert "FAILED · " in said.out
