#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares DRAM bytes by the hardware's counters (bench --dram) with the contract's formula:
  traffic.py RECORDS... [--markdown] [--within SHARE] [--least MB]
Prints a line for each row of at least 256 MB by formula; smaller ones stay in the L2 cache in part.  Judges our kernels on rows
that memory limits, except `naive` and `unfused`, which move more by design.
Exit codes: 0 every judged row is within 5 %, 1 one is not or none was judged, 2 bad usage."""
from records import BadInput, Parser, judged, records_of, show

COLUMNS = ["kernel", "dtype", "shape", "formula MB", "DRAM MB", "ratio", ""]


def not_judged(record):
    """Why a row is shown but not judged; empty: it is judged."""
    if record["limit"] != "copy":
        return "the arithmetic limits it"
    if record["kernel"].startswith("baseline_"):
        return "a library's"
    return "moves more by design" if record["kernel"] in ("naive", "unfused") else ""


def flags_of(arguments):
    p = Parser(__doc__)
    p.add_argument("files", nargs="+", metavar="RECORDS")
    p.add_argument("--markdown", action="store_true", help="print Markdown")
    p.add_argument("--within", type=float, default=0.05, metavar="SHARE", help="largest accepted deviation from the formula")
    p.add_argument("--least", type=float, default=256, metavar="MB", help="least MB by formula for a row to be shown")
    flags = p.parse_args(arguments)
    if not (flags.within > 0 and flags.least > 0):
        raise BadInput("--within and --least must be above 0")
    return flags


def main(arguments):
    flags = flags_of(arguments)
    latest = {}
    for record in records_of(flags.files):
        if record["record"] == "bench" and "dram" in record:
            latest[tuple(record[field] for field in ("kernel", "op", "dtype", "shape"))] = record
    rows = []
    count = 0
    off = 0
    for record in latest.values():
        # unfused is compared with the formula of its own steps, as bench does.
        formula = record["bytes"]["unfused_formula" if record["kernel"] == "unfused" else "formula"]
        if formula < 1e6 * flags.least:
            continue
        ratio = (record["dram"]["read_bytes"] + record["dram"]["written_bytes"]) / formula
        why = not_judged(record)
        wrong = abs(ratio - 1) > flags.within
        if not why:
            count += 1
            off += wrong
        rows.append(
            [
                f"{record['op']}/{record['kernel']}",
                record["dtype"],
                record["shape"],
                f"{1e-6 * formula:.2f}",
                f"{1e-6 * ratio * formula:.2f}",
                f"{ratio:.4f}",
                f"({why})" if why else "OFF" if wrong else "ok",
            ]
        )
    show(COLUMNS, rows, flags.markdown)
    print(f"{chr(10) * flags.markdown}{count} rows judged, {off} beyond {100 * flags.within:g} % of the formula")
    return 1 if off or not count else 0


if __name__ == "__main__":
    judged(main)
