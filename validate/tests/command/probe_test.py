# SPDX-License-Identifier: Apache-2.0
"""Tests validate probe: its own records match, and each difference is found and named."""
import re
from pathlib import Path

import pytest

from command_line import lines, records, values, write

OTHER = "0123456789abcdef"
AGAINST = "probe --backend simt --against"


@pytest.fixture(scope="module")
def probes(validate, folder):
    validate.works("probe --backend simt --json probes.jsonl")
    return Path("probes.jsonl")


def form(validate, name):
    """Records the results of the forms of PTX that have this in their names; returns the file and what was said."""
    path = Path(f"{name.strip('.')}.jsonl")
    return path, validate.works(f"probe --ptx -k {name} --backend simt --json {path}")


@pytest.fixture(scope="module")
def shf(validate, folder):
    return form(validate, "shf.")


def with_other_digest(path, changed, line_of, which):
    """Writes the file with one digest changed: of the line that holds `line_of` the first (0) or the last (-1) one."""
    text = path.read_text()
    line = next(line for line in text.splitlines() if line_of in line)
    digest = re.findall("[0-9a-f]{16}", line)[which]
    return write(changed, text.replace(digest, OTHER))


def rows(said, pattern):
    """How many lines of the output match the pattern."""
    return len(re.findall(pattern, said.out, re.MULTILINE))


def test_the_file_can_be_committed(probes):
    assert records(probes)
    assert probes.stat().st_size < 300_000


@pytest.mark.parametrize(
    "instruction",
    ["mma_m16n8k16<half>", "mma_m16n8k8<bfloat16>", "ldmatrix_trans<4>", "cp_async<16>", "unpack<half>", "exp2_approx"],
)
def test_instructions_in_the_records(probes, instruction):
    assert instruction in "\n".join(values("instruction", records(probes)))


@pytest.mark.parametrize("other", ["probes.jsonl", "simt"])
def test_equal_results(validate, probes, other):
    # Of some instructions; simt.probes.as_on.* compare all.
    said = validate(f"{AGAINST} {other} -k mma_m16n8k8")
    assert re.search("against .*: [1-9][0-9]* classes the same, 0 different, 0 not there", said.out)


def test_a_changed_result(validate, probes):
    with_other_digest(probes, "result.jsonl", '"mma_m16n8k8<half>","class":"cancelling"', -1)
    said = validate(f"{AGAINST} result.jsonl -k mma_m16n8k8", code=1)
    assert "DIFFERENT in 1 of 64 digests; first in instructions 4032 to 4095" in said.out
    assert " 1 different, " in said.out
    assert rows(said, "^  mma_m16n8k8<half> *cancelling .* DIFFERENT") == 1


def test_changed_inputs(validate, probes):
    with_other_digest(probes, "inputs.jsonl", '"cp_async<8>"', 0)
    assert "was made with other inputs" in validate(f"{AGAINST} inputs.jsonl -k cp_async", code=2).err


def test_a_missing_instruction(validate, probes):
    write("fewer.jsonl", "".join(line for line in lines(probes) if "ldmatrix<2>" not in line))
    assert " 0 different, 1 not there" in validate(f"{AGAINST} fewer.jsonl -k ldmatrix").out


def test_forms_of_ptx(validate, shf):
    path, said = shf
    assert "results of 4 forms on simt" in said.out
    said = validate(f"probe --ptx -k shf. --backend simt --against {path}")
    assert "4 classes the same, 0 different" in said.out


def test_a_changed_form_of_ptx(validate, shf):
    with_other_digest(shf[0], "form.jsonl", "shf.l.wrap", -1)
    said = validate("probe --ptx -k shf. --backend simt --against form.jsonl", code=1)
    assert rows(said, "^  shf.l.wrap.b32 .*DIFFERENT in 1 of 8 digests; first in instructions 3584 to 4095") == 1
    said = validate("probe --ptx -k shf. --digests 7 --backend simt --against form.jsonl")  # the last is another
    assert "1835008 results of 4 forms" in said.out


def test_a_modelled_form_need_not_be_the_same(validate):
    path, _ = form(validate, "tanh")
    with_other_digest(path, "modelled.jsonl", "tanh", -1)
    said = validate("probe --ptx -k tanh --backend simt --against modelled.jsonl")
    assert "modelled, and differs in 1 of 8" in said.out


@pytest.mark.parametrize(
    "part, line",
    [
        ("--digests requires --ptx", "probe --digests 1"),
        ("-k rubbish: no instruction has this in its name", "probe --ptx -k rubbish"),
        ("cannot read 'nowhere.jsonl'", f"{AGAINST} nowhere.jsonl"),
        ("cannot write", "probe --backend simt --json /nowhere/probes.jsonl"),
        ("unknown flag '--agianst'. Did you mean '--against'?", "probe --agianst simt"),
    ],
)
def test_wrong_flags(validate, part, line):
    validate.refuses(part, line)


def test_files_without_a_probe(validate, probes):
    head, first, *_ = lines(probes)
    write("head.jsonl", head)
    validate.refuses("holds no probe", f"{AGAINST} head.jsonl")
    write("cut.jsonl", head + first[:50])
    validate.refuses("line 2 is not a record", f"{AGAINST} cut.jsonl")


def test_no_gpu(validate, without_gpu):
    validate("probe --backend cuda --skip-exit 77", code=77)
    validate.refuses("backend cuda cannot be used", "probe --backend cuda")
    validate.refuses("no GPU can be used here", "probe --require-gpu")
