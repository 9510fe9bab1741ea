#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our medians beside PyTorch's of the same call of the same library:
  cross_check.py RECORDS... [--markdown] [--within SHARE] [--least US]
RECORDS: those of `validate bench --library-functions` and of reports/pytorch_rows.py, of one device.  Judged is a pair of which both
sides launched the same functions with as many blocks, and took 50 us or more: PyTorch may choose another algorithm than ours.
Memsets that PyTorch has of its own before the library's call are taken off, with the time that the profiler gave them.
Exit codes: 0 every judged pair is within 3 %, 1 one is not or none was judged, 2 bad usage."""
import argparse, sys

from pytorch.functions import short_name
from records import BadInput, records_of, row_of, show

# One call of a library on both sides: of each op, our kernel and the variants of PyTorch that are it.
CALLS = {
    "attention_backward": {"baseline_cudnn": ["pytorch_sdpa_cudnn"]},
    "attention_forward": {"baseline_cudnn": ["pytorch_sdpa_cudnn"]},
    "linear": {"baseline_cublaslt": ["pytorch_eager", "pytorch_cublaslt"],
               "baseline_cublaslt_f32": ["pytorch_eager", "pytorch_cublaslt"]},
}
MEMSET = ("memset", 0)
COLUMNS = ["ours", "PyTorch", "dtype", "shape", "ours us", "PyTorch us", "ratio", ""]


class Parser(argparse.ArgumentParser):
    def error(self, message): raise BadInput(message)


def flags_of(arguments):
    p = Parser(prog="cross_check.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="+", metavar="RECORDS")
    p.add_argument("--markdown", action="store_true", help="a table in Markdown")
    p.add_argument("--within", type=float, default=0.03, metavar="SHARE", help="of our median that PyTorch's may be off by")
    p.add_argument("--least", type=float, default=50, metavar="US", help="that both take, for a pair to be judged")
    flags = p.parse_args(arguments)
    if not flags.within > 0: raise BadInput("--within must be above 0")
    return flags


def called(record, field):
    """[(function, blocks)] of a record; None where nobody wrote them down."""
    return [(short_name(f["function"]), f["blocks"]) for f in record[field]] if field in record else None


def words(functions): return " + ".join(f"{name} x {blocks}" for name, blocks in functions)


def own_memsets(ours, other):
    """How many memsets PyTorch has of its own before the library's call."""
    mine, theirs = called(ours, "library_functions"), called(other, "functions")
    return len(theirs) - len(mine) if mine and theirs and theirs == [MEMSET] * (len(theirs) - len(mine)) + mine else 0


def not_judged(ours, other, least):
    """Why a pair is shown alone; empty: it is judged."""
    mine, theirs = called(ours, "library_functions"), called(other, "functions")
    if mine is None or theirs is None: return f"functions not recorded by {'bench' if mine is None else 'PyTorch'}"
    if mine != theirs[own_memsets(ours, other):]: return f"another algorithm: {words(mine)} here, {words(theirs)} there"
    return f"less than {least:g} us" if min(r["time_us"]["median"] for r in (ours, other)) < least else ""


def latest_of(files):
    """By device and row: our records of libraries and PyTorch's times, the latest of each kernel."""
    device, ours, others = "", {}, {}
    for record in records_of(files):
        if record["record"] == "run": device = record["device"]
        elif record["record"] == "bench" and record["kernel"] in CALLS.get(record["op"], ()):
            ours[device, *row_of(record), record["kernel"]] = record
        elif record["record"] == "timing" and "time_us" in record: others[device, *row_of(record), record["kernel"]] = record
    return ours, others


def main(arguments):
    flags = flags_of(arguments)
    ours, others = latest_of(flags.files)
    rows, judged, off = [], 0, 0
    for (*row, kernel), mine in ours.items():
        for name in CALLS[mine["op"]][kernel]:
            other = others.get((*row, name))
            if not other: continue
            extra = own_memsets(mine, other)
            us = other["time_us"]["median"] - sum(f["us"] for f in other["functions"][:extra] if extra)
            ratio = us / mine["time_us"]["median"]
            why, wrong = not_judged(mine, other, flags.least), abs(ratio - 1) > flags.within
            if not why: judged, off = judged + 1, off + wrong
            rows.append([f"{mine['op']}/{kernel}", name, mine["dtype"], mine["shape"], f"{mine['time_us']['median']:.2f}",
                         f"{us:.2f}", f"{ratio:.4f}",
                         (f"({why})" if why else "OFF" if wrong else "ok, same function") +
                         (f", less {extra} memset of PyTorch's own" if extra else "")])
    show(COLUMNS, rows, flags.markdown)
    print(f"{chr(10) * flags.markdown}{judged} of {len(rows)} pairs judged, {off} beyond {100 * flags.within:g} %")
    return 1 if off or not judged else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (BadInput, KeyError) as error:
        print(f"cross_check.py: {f'a record lacks {error}' if isinstance(error, KeyError) else error}", file=sys.stderr)
        sys.exit(2)
