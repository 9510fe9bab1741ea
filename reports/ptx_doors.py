#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The PTX door against the C++ door: of each kernel, how many outputs have equal bits, as a table.

    validate run --backend simt --op softmax --suite smoke --json simt.jsonl
    validate run --backend ptx --op softmax --suite smoke --json ptx.jsonl
    reports/ptx_doors.py simt.jsonl ptx.jsonl

Exits with 1 if a case has another verdict than through the other door."""
import sys

from records import Parser, judged, records_of, show


def main(arguments):
    parser = Parser(__doc__)
    parser.add_argument("files", nargs="+", metavar="RECORDS", help="record files of both, of any ops")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    flags = parser.parse_args(arguments)
    doors = {True: {}, False: {}}  # by whether it ran as PTX; cases by their repro lines
    for record in records_of(flags.files):
        if record["record"] == "case": doors[record.get("loaded") == "--backend ptx"][record["repro"]] = record
    rows, others = {}, []
    for repro, ptx in doors[True].items():
        cpp = doors[False].get(repro)
        if cpp is None: continue
        if cpp["verdict"] != ptx["verdict"]: others.append(f"{repro}: {ptx['verdict']} as PTX, {cpp['verdict']} as C++")
        if "digest" not in ptx or "digest" not in cpp or "fidelity" not in ptx: continue  # the last: without a launch, of no elements
        level = ptx["fidelity"].split(":")[0].split(";")[0]
        row = rows.setdefault((f"{ptx['op']}/{ptx['kernel']}", level), {"dtypes": set(), "outputs": 0, "equal": 0, "margins": [0, 0], "seconds": [0, 0]})
        row["dtypes"].add(ptx["dtype"])
        row["outputs"] += 1
        row["equal"] += ptx["digest"] == cpp["digest"]
        row["margins"] = [max(a, c.get("margin") or 0) for a, c in zip(row["margins"], (ptx, cpp))]
        row["seconds"] = [total + c["seconds"] for total, c in zip(row["seconds"], (ptx, cpp))]
    show(["kernel", "PTX", "dtypes", "outputs", "equal bits", "err/bound as PTX", "as C++", "time C++/PTX"],
         [[kernel, level, " ".join(sorted(r["dtypes"])), str(r["outputs"]), str(r["equal"])] + [f"{m:.3f}" for m in r["margins"]]
         + [f"{r['seconds'][1] / r['seconds'][0]:.2f}" if r["seconds"][0] else ""]
          for (kernel, level), r in sorted(rows.items())], flags.markdown)
    print(f"\n{sum(r['equal'] for r in rows.values())} of {sum(r['outputs'] for r in rows.values())} outputs have equal bits, "
          f"{len(others)} cases another verdict")
    for line in others: print(line)
    return bool(others)


if __name__ == "__main__": judged(main)
