#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the memory that cases are told to need with what they take.

  memory.py VALIDATE [LINE...]      LINE: a repro line with a kernel; without any, six shapes of every op

A case takes the peak of the proportional set size (PSS) of the judge and its worker with one job, above that of an empty case of
the same kernel.  Exits with 1 if a case is told less than 80 % or more than 120 % of it."""
import os
import re
import subprocess
import sys
import time

MIB = 1 << 20
UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": MIB, "GiB": 1 << 30}


def pss(pid):
    try:
        with open(f"/proc/{pid}/smaps_rollup") as rollup:
            return next(int(line.split()[1]) for line in rollup if line.startswith("Pss:")) * 1024
    except (OSError, StopIteration):
        return 0


def tree(pid):
    """A process and its children, as far as they live."""
    found = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as children:
                for child in children.read().split():
                    found += tree(int(child))
    except OSError:
        pass
    return found


def measure(validate, line):
    """The peak of a replay in bytes, what it was told, and its verdict."""
    process = subprocess.Popen([validate, "replay", "--backend", "simt", "--no-shrink", "--timeout", "3000", line],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(pss(pid) for pid in tree(process.pid)))
        time.sleep(0.002)
    said = process.stdout.read()
    told = re.search(r"memory +([0-9.]+) (\w+) of judge", said)
    verdict = re.search(r"verdict +(.*)", said)
    return peak, float(told[1]) * UNITS[told[2]] if told else 0, verdict[1] if verdict else said.strip()


def small(line):
    """The same case with every extent at most 4."""
    return re.sub(r"\b([a-z_]+)=(\d+)\b", lambda m: f"{m[1]}={min(int(m[2]), 4)}" if m[1] != "seed" else m[0], line)


def main():
    validate, lines = sys.argv[1], sys.argv[2:]
    bad = 0
    empty = {}
    for line in lines or SHAPES:
        kernel, dtype = line.split()[:2]
        if kernel not in empty:
            empty[kernel] = measure(validate, small(line))[0]
        peak, told, verdict = measure(validate, line)
        taken = peak - empty[kernel]
        ratio = told / taken
        wrong = not 0.8 <= ratio <= 1.2
        bad += wrong
        print(f"{'WRONG ' if wrong else '      '}{told / MIB:8.0f} MiB told {taken / MIB:8.0f} taken {ratio:6.2f}  {verdict[:40]:40}  {line}",
              flush=True)
    print(f"{bad} of {len(lines or SHAPES)} are told too little or too much")
    return 1 if bad else 0


SHAPES = []

if __name__ == "__main__":
    sys.exit(main())
