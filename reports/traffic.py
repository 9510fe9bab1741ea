#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bytes of device memory by the hardware's counters (bench --dram) beside the contract's formula:
  traffic.py RECORDS... [--markdown] [--within SHARE] [--least MB]
A line for each row whose formula has at least 256 MB, for what is smaller stays in the L2 cache in part.  Judged is each kernel of
ours on a row that the memory limits; `naive` and `unfused` are what the others are held against, and move more by their nature.
Exit codes: 0 every judged row is within 5 %, 1 one is not or none was judged, 2 bad usage."""
from records import BadInput, Parser, judged, records_of, show

COLUMNS = ["kernel", "dtype", "shape", "formula MB", "DRAM MB", "ratio", ""]


def not_judged(record):
    """Why a row is shown alone; empty: it is judged."""
    if record["limit"] != "copy": return "the arithmetic limits it"
    if record["kernel"].startswith("baseline_"): return "a library's"
    return "moves more by its nature" if record["kernel"] in ("naive", "unfused") else ""


def flags_of(arguments):
    p = Parser(__doc__)
    p.add_argument("files", nargs="+", metavar="RECORDS")
    p.add_argument("--markdown", action="store_true", help="a table in Markdown")
    p.add_argument("--within", type=float, default=0.05, metavar="SHARE", help="of the formula, that may be off")
    p.add_argument("--least", type=float, default=256, metavar="MB", help="of the formula, for a row to be looked at")
    flags = p.parse_args(arguments)
    if not (flags.within > 0 and flags.least > 0): raise BadInput("--within and --least must be above 0")
    return flags


def main(arguments):
    flags = flags_of(arguments)
    latest = {}
    for record in records_of(flags.files):
        if record["record"] == "bench" and "dram" in record:
            latest[tuple(record[field] for field in ("kernel", "op", "dtype", "shape"))] = record
    rows, count, off = [], 0, 0
    for record in latest.values():
        # As bench prints it: unfused is held against the formula of its own steps.
        formula = record["bytes"]["unfused_formula" if record["kernel"] == "unfused" else "formula"]
        if formula < 1e6 * flags.least: continue
        ratio = (record["dram"]["read_bytes"] + record["dram"]["written_bytes"]) / formula
        why, wrong = not_judged(record), abs(ratio - 1) > flags.within
        if not why: count, off = count + 1, off + wrong
        rows.append([f"{record['op']}/{record['kernel']}", record["dtype"], record["shape"], f"{1e-6 * formula:.2f}",
                     f"{1e-6 * ratio * formula:.2f}", f"{ratio:.4f}", f"({why})" if why else "OFF" if wrong else "ok"])
    show(COLUMNS, rows, flags.markdown)
    print(f"{chr(10) * flags.markdown}{count} rows judged, {off} beyond {100 * flags.within:g} % of the formula")
    return 1 if off or not count else 0


if __name__ == "__main__": judged(main)
