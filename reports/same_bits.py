#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One set of cases on two machines: of each kernel, how many outputs have equal bits, and every case whose outputs have not.

    reports/same_bits.py SIMT_FOLDER GPU_FOLDER

The folders hold records of `validate run --json` (or of assay.validate) in files *.jsonl.  The first says how exact a kernel is.
A kernel that adds floats by atomic operations has no bits of its own, so it counts apart.  Exits with 1 if a case has another verdict
on the other machine, or if another exact kernel's outputs differ."""
import pathlib

from records import Parser, judged, records_of, show


def cases_of(folder):
    """The cases of a folder, by op, kernel, dtype and what a repro line says of them; the program that ran them has no part in it."""
    files = sorted(str(p) for p in pathlib.Path(folder).glob("*.jsonl"))
    return {r["repro"].split(" --")[0]: r for r in records_of(files) if r["record"] == "case"}


def main(arguments):
    parser = Parser(__doc__)
    parser.add_argument("here", metavar="SIMT_FOLDER")
    parser.add_argument("there", metavar="GPU_FOLDER")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    flags = parser.parse_args(arguments)
    here, there = cases_of(flags.here), cases_of(flags.there)
    rows, unequal, verdicts, wrong, unordered = {}, [], [], 0, 0
    for repro, a in here.items():
        b = there.get(repro)
        if b is None: continue
        if a["verdict"] != b["verdict"]: verdicts.append(f"{repro}: {a['verdict']} here, {b['verdict']} there ({b.get('reason', '')})")
        if "digest" not in a or "digest" not in b: continue
        rests = a.get("fidelity", "not told")
        loose = "in no fixed order" in rests
        level = rests.split(":")[0].split(";")[0] + (", unordered" if loose else "")
        row = rows.setdefault((f"{a['op']}/{a['kernel']}", level),
                              {"dtypes": set(), "outputs": 0, "equal": 0, "margins": [0, 0], "rests": rests})
        row["dtypes"].add(a["dtype"])
        row["outputs"] += 1
        row["margins"] = [max(m, r.get("margin") or 0) for m, r in zip(row["margins"], (a, b))]
        if a["digest"] == b["digest"]:
            row["equal"] += 1
            continue
        wrong += rests.startswith("exact") and not loose
        unordered += loose
        unequal.append(f"{repro}: err/bound {a.get('margin') or 0:.4f} here, {b.get('margin') or 0:.4f} there; {rests}")
    show(["kernel", "fidelity", "dtypes", "outputs", "equal bits", "err/bound here", "there"],
         [[kernel, level, " ".join(sorted(r["dtypes"])), str(r["outputs"]), str(r["equal"])] + [f"{m:.3f}" for m in r["margins"]]
          for (kernel, level), r in sorted(rows.items())], flags.markdown)
    print(f"\n{sum(r['equal'] for r in rows.values())} of {sum(r['outputs'] for r in rows.values())} outputs have equal bits, {wrong} outputs "
          f"of exact kernels and {unordered} of unordered ones have not; {len(verdicts)} cases another verdict, {len(set(here) ^ set(there))} ran on one machine alone")
    for line in verdicts + unequal: print(line)
    return bool(verdicts or wrong)


if __name__ == "__main__": judged(main)
