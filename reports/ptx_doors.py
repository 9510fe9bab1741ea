#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The PTX door against the C++ door: of each kernel, how many outputs have equal bits, as a table.

    validate run --backend simt --op softmax --suite smoke --json simt.jsonl
    validate run --backend ptx --op softmax --suite smoke --json ptx.jsonl
    reports/ptx_doors.py simt.jsonl ptx.jsonl

Exits with 1 if a case has another verdict than through the other door."""

from records import Parser, bits_by_kernel, bits_cells, bits_total, judged, level_of, records_of, show


def main(arguments):
    parser = Parser(__doc__)
    parser.add_argument("files", nargs="+", metavar="RECORDS", help="record files of both, of any ops")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    flags = parser.parse_args(arguments)
    doors = {True: {}, False: {}}  # by whether it ran as PTX; cases by their repro lines
    for record in records_of(flags.files):
        if record["record"] == "case":
            doors[record.get("loaded") == "--backend ptx"][record["repro"]] = record
    pairs = [(ptx, doors[False][repro]) for repro, ptx in doors[True].items() if repro in doors[False]]
    others = [
        f"{ptx['repro']}: {ptx['verdict']} as PTX, {cpp['verdict']} as C++"
        for ptx, cpp in pairs
        if cpp["verdict"] != ptx["verdict"]
    ]
    # Note: a case of no elements has no launch, and so no fidelity.
    rows = bits_by_kernel([(p, c) for p, c in pairs if "digest" in p and "digest" in c and "fidelity" in p], level_of)
    times = [f"{cpp / ptx:.2f}" if ptx else "" for ptx, cpp in (r["seconds"] for r in rows.values())]
    show(
        ["kernel", "PTX", "dtypes", "outputs", "equal bits", "err/bound as PTX", "as C++", "time C++/PTX"],
        [cells + [time] for cells, time in zip(bits_cells(rows), times)],
        flags.markdown,
    )
    print(f"\n{bits_total(rows)}, {len(others)} cases another verdict")
    for line in others:
        print(line)
    return bool(others)


if __name__ == "__main__":
    judged(main)
