# SPDX-License-Identifier: Apache-2.0
"""Tests reports/traffic.py and reports/same_bits.py, which judge records."""
import gzip
import re
import sys
from pathlib import Path

import pytest

from command_line import SOURCES, Program, lines, write, write_records

RECORDED = SOURCES / "reports/baselines/nvidia-h200"
traffic = Program(sys.executable, SOURCES / "reports/traffic.py")
same_bits = Program(sys.executable, SOURCES / "reports/same_bits.py")


def squeezed(text):
    """A text without the spaces that align its columns."""
    return re.sub(" +", " ", text)


# --- DRAM bytes beside the formula
def bench(kernel, limit, formula, read_bytes, written_bytes):
    return {
        "record": "bench",
        "op": "softmax",
        "kernel": kernel,
        "dtype": "f16",
        "shape": "rows=8 cols=8",
        "limit": limit,
        "bytes": {"formula": formula, "unfused_formula": 2 * formula},
        "dram": {"read_bytes": read_bytes, "written_bytes": written_bytes},
    }


ROWS = [
    bench("block_row", "copy", 400_000_000, 200_000_000, 200_000_000),
    bench("warp_row", "copy", 400_000_000, 210_000_000, 209_000_000),
    bench("tiled", "matrix", 400_000_000, 900_000_000, 0),
    bench("naive", "copy", 400_000_000, 600_000_000, 200_000_000),
    bench("unfused", "copy", 400_000_000, 400_000_000, 400_000_000),
    bench("baseline_cudnn", "copy", 400_000_000, 1, 1),
    bench("little", "copy", 200_000_000, 1, 1),
]


@pytest.fixture(scope="module")
def moved(folder):
    return write_records("moved.jsonl", {"record": "run"}, *ROWS)


def test_rows_beside_the_formula(moved):
    said = traffic(moved)
    assert "2 rows judged, 0 beyond 5 % of the formula" in said.out
    assert "softmax/warp_row f16 rows=8 cols=8 400.00 419.00 1.0475 ok" in squeezed(said.out)


def test_unfused_has_a_formula_of_its_own(moved):
    assert "softmax/unfused f16 rows=8 cols=8 800.00 800.00 1.0000 (moves" in squeezed(traffic(moved).out)


def test_what_is_not_judged(moved):
    said = traffic(moved)
    assert "(the arithmetic limits it)" in said.out
    assert "softmax/little" not in said.out  # the cache keeps a part of it


def test_a_smaller_deviation_is_accepted(moved):
    assert "2 rows judged, 1 beyond 4 % of the formula" in traffic("--within 0.04", moved, code=1).out


@pytest.mark.parametrize("written_bytes", [240_000_000, 160_000_000])
def test_a_tenth_too_much_or_too_little(moved, written_bytes):
    planted = bench("block_row", "copy", 400_000_000, 200_000_000, written_bytes)
    wrong = write_records("wrong.jsonl", {"record": "run"}, *ROWS, planted)
    said = traffic(wrong, code=1)
    assert "OFF" in said.out
    assert "2 rows judged, 1 beyond" in said.out
    traffic("", wrong, moved)  # only the latest record of a row counts


def test_markdown_of_a_packed_file(moved):
    packed = write("moved.jsonl.gz", gzip.compress(Path(moved).read_bytes()))
    said = traffic("--markdown", packed)
    assert "| softmax/block_row | f16 | rows=8 cols=8 | 400.00 | 400.00 | 1.0000 | ok |" in said.out


def test_rows_of_a_gpu():
    assert "3 rows judged, 0 beyond" in traffic("", RECORDED / "suite_ln-residual.jsonl").out


def test_no_row(moved):
    none = write("none.jsonl", "".join(line for line in lines(moved) if '"bench"' not in line))
    assert "0 rows judged" in traffic(none, code=1).out


@pytest.mark.parametrize(
    "part, line",
    [
        ("RECORDS", ""),
        ("cannot read 'nonesuch'", "nonesuch"),
        ("--within", "moved.jsonl --within 0"),
    ],
)
def test_wrong_words(moved, part, line):
    traffic.refuses(part, line)


@pytest.mark.parametrize(
    "part, text",
    [
        ("lacks 'kernel'", '{"record":"bench","dram":{},"op":"add"}\n'),
        ("part.jsonl, line 1", "{\n"),
    ],
)
def test_wrong_files(part, text):
    traffic.refuses(part, write("part.jsonl", text))


# --- bits of two machines: a kernel that adds in no fixed order counts apart
def case(kernel, digest, fidelity=""):
    return {
        "record": "case",
        "op": "add",
        "kernel": kernel,
        "dtype": "f32",
        "repro": f"add/{kernel} f32 rows=1",
        "verdict": "passed",
        "digest": digest,
        "margin": 0.5,
        "fidelity": fidelity,
    }


@pytest.fixture(scope="module")
def here(folder):
    path = Path("here")
    path.mkdir()
    unordered = "exact; `red.add.f32` (k.ptx:7) adds floats in no fixed order"
    write_records(path / "a.jsonl", case("same", "1", "exact"), case("sums", "1", unordered))
    return path


@pytest.fixture
def there(here):
    path = Path("there")
    path.mkdir(exist_ok=True)
    return path


def test_other_bits_of_an_unordered_kernel(here, there):
    write_records(there / "a.jsonl", case("same", "1"), case("sums", "2"))
    said = same_bits("", here, there)
    assert "1 of 2 outputs have equal bits, 0 outputs of exact kernels and 1 of unordered ones have not" in said.out
    assert "add/sums exact, unordered f32 1 0 0.500 0.500" in squeezed(said.out)


def test_other_bits_of_an_exact_kernel(here, there):
    write_records(there / "a.jsonl", case("same", "2"), case("sums", "1"))
    said = same_bits("", here, there, code=1)
    assert "1 outputs of exact kernels and 0 of unordered ones have not" in said.out
