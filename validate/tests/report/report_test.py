# SPDX-License-Identifier: Apache-2.0
"""Tests report on 1,000 rows that are all in published tables, with a run, and on all records of a device."""
import csv
import gzip
import json
import sys
from pathlib import Path

import pytest

from command_line import SOURCES, read, run, skip_file

TESTS = SOURCES / "validate/tests"
RECORDED = SOURCES / "reports/baselines/nvidia-h200"
SECTIONS = "ranked,suites,ablations,correctness,traffic,resources,profiles,runs"


def made(path, *flags):
    """Bench records of 1,000 rows."""
    benches = [RECORDED / "bench.jsonl", RECORDED / "bench_layernorm_residual.jsonl"]
    run(sys.executable, TESTS / "make_records.py", path, *benches, "--rows", "1000", *flags)
    return Path(path)


@pytest.fixture(scope="module")
def old(folder):
    return made("old.jsonl", "--date", "2026-11-20T12:00:00Z")


@pytest.fixture(scope="module")
def new(folder):
    return made("new.jsonl", "--seed", "2", "--factor", "0.8", "--suites")


@pytest.fixture(scope="module")
def table(validate, old, new):
    """The lines of the CSV."""
    validate("report old.jsonl new.jsonl -o report.csv")
    with open("report.csv", newline="") as file:
        return list(csv.DictReader(file, restkey="too many"))


@pytest.fixture(scope="module")
def markdown(validate, old, new):
    validate("report old.jsonl new.jsonl -o report.md")
    return Path("report.md")


def test_every_line_of_the_csv_has_the_cells_of_its_head(table):
    assert len(table) == 1000
    assert not [line for line in table if "too many" in line or None in line.values()]


def test_every_line_of_the_csv_is_of_a_published_table(table):
    lacking = [line for line in table if not (line["suite"] and line["table"] and line["label"])]
    assert not lacking
    assert all(float(line["dram_read_bytes"]) > 0 for line in table)


def test_the_csv_has_steps_and_the_file_of_the_newest_records(table):
    assert any(line["step"] == "1" for line in table)
    assert all(line["file"].endswith("new.jsonl") for line in table)


def test_the_markdown_fits_a_summary_of_ci(markdown):
    assert markdown.stat().st_size < 1_000_000


@pytest.mark.parametrize("heading", ["### Ablations", "### claims-attention-forward: "])
def test_headings_of_the_markdown(markdown, heading):
    assert heading in read(markdown)


def test_every_line_of_a_table_has_as_many_cells_as_its_head(markdown):
    for table in read(markdown).split("\n\n"):
        cells = {line.count("|") for line in table.splitlines() if line.startswith("|")}
        assert len(cells) < 2, table[:300]


# --- the page, in a browser
def page_is_right(validate, *words):
    """Opens the page of these records in a browser."""
    said = run(sys.executable, TESTS / "report/report_browser_test.py", validate, *words, "--sections", SECTIONS, code=None)
    if said.code == 77:
        skip_file(said.out.strip())
    assert said.code == 0, said.all


def test_the_page_of_rows_and_a_run(validate, old, new, screenshots):
    pictures = ["--screenshots", screenshots] if screenshots else []
    page_is_right(validate, old, new, RECORDED / "smoke.jsonl.gz", "--charts", "4", *pictures)


def holds_one_run(path):
    """Whether a file has the records of one run, as report asks for.  Some files of a device are tables, or runs in turns."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as file:
        kinds = [json.loads(line).get("record") for line in file]
    return kinds[0] == "run" and kinds.count("run") == 1


def test_the_page_of_all_records_of_a_device(validate):
    recorded = sorted(RECORDED.glob("*.jsonl")) + sorted(RECORDED.glob("*.jsonl.gz"))
    runs = [path for path in recorded if holds_one_run(path)]
    assert len(runs) > 90
    page_is_right(validate, *runs, "--charts", "3", "--bytes", "3000000")
