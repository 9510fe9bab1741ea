#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One set of cases on two machines: of each kernel, how many outputs have equal bits, and every case whose outputs have not.

    reports/same_bits.py SIMT_FOLDER GPU_FOLDER

The folders hold records of `validate run --json` (or of assay.validate) in files *.jsonl.  The first says how exact a kernel is.
A kernel that adds floats by atomic operations has no bits of its own, so it counts apart.  Exits with 1 if a case has another verdict
on the other machine, or if another exact kernel's outputs differ."""
import pathlib

from records import Parser, bits_by_kernel, bits_cells, bits_total, judged, level_of, number_of, records_of, show


def cases_of(folder):
    """The cases of a folder, by op, kernel, dtype and what a repro line says of them; the program that ran them has no part in it."""
    files = sorted(str(p) for p in pathlib.Path(folder).glob("*.jsonl"))
    return {r["repro"].split(" --")[0]: r for r in records_of(files) if r["record"] == "case"}


def is_unordered(case):
    return "in no fixed order" in case.get("fidelity", "")


def main(arguments):
    parser = Parser(__doc__)
    parser.add_argument("here", metavar="SIMT_FOLDER")
    parser.add_argument("there", metavar="GPU_FOLDER")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    flags = parser.parse_args(arguments)
    here, there = cases_of(flags.here), cases_of(flags.there)
    pairs = [(a, there[repro]) for repro, a in here.items() if repro in there]
    verdicts = [
        f"{a['repro']}: {a['verdict']} here, {b['verdict']} there ({b.get('reason', '')})"
        for a, b in pairs
        if a["verdict"] != b["verdict"]
    ]
    stored = [(a, b) for a, b in pairs if "digest" in a and "digest" in b]
    rows = bits_by_kernel(stored, lambda a: level_of(a) + (", unordered" if is_unordered(a) else ""))
    other = [(a, b) for a, b in stored if a["digest"] != b["digest"]]
    unordered = sum(is_unordered(a) for a, _ in other)
    wrong = sum(level_of(a) == "exact" and not is_unordered(a) for a, _ in other)
    unequal = [
        f"{a['repro']}: err/bound {number_of(a, 'margin') or 0:.4f} here, {number_of(b, 'margin') or 0:.4f} there; {a.get('fidelity', 'not told')}"
        for a, b in other
    ]
    show(["kernel", "fidelity", "dtypes", "outputs", "equal bits", "err/bound here", "there"], bits_cells(rows), flags.markdown)
    print(
        f"\n{bits_total(rows)}, {wrong} outputs of exact kernels and {unordered} of unordered ones have not; "
        f"{len(verdicts)} cases another verdict, {len(set(here) ^ set(there))} ran on one machine alone"
    )
    for line in verdicts + unequal:
        print(line)
    return bool(verdicts or wrong)


if __name__ == "__main__":
    judged(main)
