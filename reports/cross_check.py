#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our medians beside PyTorch's of the same call of the same library:
  cross_check.py RECORDS... [--markdown] [--within SHARE] [--least US]
RECORDS: those of `validate bench --library-functions` and of reports/pytorch_rows.py, of one device.  Judged is a pair of which both
sides launched the same functions with as many blocks, and took 50 us or more: PyTorch may choose another algorithm than ours.
Memsets that PyTorch has of its own before the library's call are taken off, with the time that the profiler gave them.
Exit codes: 0 every judged pair is within 3 %, 1 one is not or none was judged, 2 bad usage."""
from pytorch.functions import short_name
from records import flags_of, judged, records_of, row_of, show

# One call of a library on both sides: of each op, our kernel and the variants of PyTorch that are it.
CALLS = {
    "attention_backward": {"baseline_cudnn": ["pytorch_sdpa_cudnn"]},
    "attention_forward": {"baseline_cudnn": ["pytorch_sdpa_cudnn_l"]},
    "linear": {"baseline_cublaslt": ["pytorch_eager", "pytorch_cublaslt"],
               "baseline_cublaslt_f32": ["pytorch_eager", "pytorch_cublaslt"]},
}
MEMSET = ("memset", 0)
COLUMNS = ["ours", "PyTorch", "dtype", "shape", "ours us", "PyTorch us", "ratio", ""]


def called(record, field):
    """[(function, blocks)] of a record; None where nobody wrote them down."""
    return [(short_name(f["function"]), f["blocks"]) for f in record[field]] if field in record else None


def words(functions): return " + ".join(f"{name} x {blocks}" for name, blocks in functions)


def beside(ours, other, least):
    """PyTorch's time in us, without memsets of its own before the call; how many those are; why the pair is shown alone, or ""."""
    rests = [record.get("rest_s", 0) for record in (ours, other)]
    if rests[0] != rests[1]: return other["time_us"]["median"], 0, f"{rests[0]:g} s of rest before each launch here, {rests[1]:g} s there"
    mine, theirs, us = called(ours, "library_functions"), called(other, "functions"), other["time_us"]["median"]
    if mine is None or theirs is None: return us, 0, f"functions not recorded by {'bench' if mine is None else 'PyTorch'}"
    extra = max(len(theirs) - len(mine), 0)
    if theirs != [MEMSET] * extra + mine: return us, 0, f"another algorithm: {words(mine)} here, {words(theirs)} there"
    us -= sum(f["us"] for f in other["functions"][:extra])
    return us, extra, f"less than {least:g} us" if min(us, ours["time_us"]["median"]) < least else ""


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
    flags = flags_of(__doc__, arguments, 0.03, "our median", 50, "US", "that both take, for a pair to be judged")
    ours, others = latest_of(flags.files)
    rows, count, off = [], 0, 0
    for (*row, kernel), mine in ours.items():
        for name in CALLS[mine["op"]][kernel]:
            if not (other := others.get((*row, name))): continue
            us, extra, why = beside(mine, other, flags.least)
            our_us = mine["time_us"]["median"]
            wrong = abs(us / our_us - 1) > flags.within
            if not why: count, off = count + 1, off + wrong
            told = f"({why})" if why else "OFF" if wrong else "ok, same function"
            rows.append([f"{mine['op']}/{kernel}", name, mine["dtype"], mine["shape"], f"{our_us:.2f}", f"{us:.2f}", f"{us / our_us:.4f}",
                         told + (f", less {extra} memset of PyTorch's own" if extra else "")])
    show(COLUMNS, rows, flags.markdown)
    print(f"{chr(10) * flags.markdown}{count} of {len(rows)} pairs judged, {off} beyond {100 * flags.within:g} %")
    return 1 if off or not count else 0


if __name__ == "__main__": judged(main)
